/// Doubts of the words at the edges of rows that have speech beside them which the text lacks.
///
/// Where a row ends and speech goes on that is none of the text, the next word of the text is looked
/// for in it as well, and short words resemble something nearly everywhere: `both it and | the` may be
/// heard in `both it and this licence`, while `the` is spoken a minute later.
struct RowEdges {
  private let words: [SpokenWord]
  private let heard: [HeardWord]

  /// What must speak for the words from the edge of a row on, so that they are beyond doubt: as much
  /// as for a word that stands alone.
  private static let least = HeardRow.loneliness
  /// Words beside a doubt belong to a row only with so many others.
  private static let fewest = 3

  /// Looks at rows of a text and at all that was heard.
  init(of words: [SpokenWord], heard: [HeardWord]) {
    self.words = words
    self.heard = heard
  }

  /// The words of rows, with those contested that could as well be elsewhere.
  ///
  /// Complexity: O(words).
  func contest(_ rows: [ArraySlice<TrustedWord>], in whole: Range<Int>) -> [TrustedWord] {
    var rows = rows.map(Array.init)
    guard let first = rows.first?.first, let last = rows.last?.last else { return [] }
    if hasSurplus(whole.lowerBound..<first.place.lowerBound, words: 0..<first.word) {
      contestWeak(&rows[0], indices: Array(rows[0].indices))
    }
    for next in rows.indices.dropFirst() {
      guard let a = rows[next - 1].last, let b = rows[next].first else { continue }
      let between = a.word + 1..<b.word
      if !words[between].contains(where: \.isSpoken) {
        (rows[next - 1], rows[next]) = echoesContested(rows[next - 1], rows[next])
      } else if hasSurplus(a.place.upperBound..<b.place.lowerBound, words: between) {
        contestWeak(&rows[next - 1], indices: rows[next - 1].indices.reversed())
        contestWeak(&rows[next], indices: Array(rows[next].indices))
      }
    }
    let end = rows.count - 1
    if hasSurplus(last.place.upperBound..<whole.upperBound, words: last.word + 1..<words.count) {
      contestWeak(&rows[end], indices: rows[end].indices.reversed())
    }
    return rows.flatMap(\.self)
  }

  /// Whether words that were not heard have more time than they need.
  private func hasSurplus(_ room: Range<Int>, words between: Range<Int>) -> Bool {
    let count = words[between].count(where: \.isSpoken)
    return count > 0 && room.count > DoubtfulPiece.mostTime(of: count)
  }

  /// Contests words from an edge on, until enough speaks for them together.
  private func contestWeak(_ row: inout [TrustedWord], indices: [Int]) {
    var evidence = 0.0
    for index in indices where heard[row[index].heard.lowerBound].evidence != nil {
      evidence += heard[row[index].heard].reduce(0) { $0 + HeardRow.evidence(of: $1) }
      guard evidence < Self.least else { return }
      row[index].isContested = true
    }
  }

  /// Contests words between two rows that the text has one after the other, where the same was heard
  /// at the end of the first and before the second, or behind the first and where the second begins.
  private func echoesContested(
    _ row: [TrustedWord], _ next: [TrustedWord]
  ) -> ([TrustedWord], [TrustedWord]) {
    guard let end = row.last?.heard.upperBound, let start = next.first?.heard.lowerBound else {
      return (row, next)
    }
    var before = 0
    while before < start - end, before < end,
      heard[start - 1 - before].key == heard[end - 1 - before].key
    {
      before += 1
    }
    var behind = 0
    while behind < start - end, start + behind < heard.count,
      heard[end + behind].key == heard[start + behind].key
    {
      behind += 1
    }
    return (
      contested(row) { $0.heard.upperBound > end - before },
      contested(next) { $0.heard.lowerBound < start + behind }
    )
  }

  /// A row with some of its words contested, and all of it if too few are left.
  private func contested(
    _ row: [TrustedWord], where isEcho: (TrustedWord) -> Bool
  ) -> [TrustedWord] {
    let count = row.count(where: isEcho)
    guard count > 0 else { return row }
    return row.map { word in
      var word = word
      word.isContested =
        word.isContested || isEcho(word) || row.count - count < Self.fewest
      return word
    }
  }
}

/// Doubts of the words at the edges of rows that have speech beside them which the text lacks.
///
/// Where a row ends and speech goes on that is none of the text, the next word of the text is looked
/// for in it as well, and short words resemble something nearly everywhere: `both it and | the` may be
/// heard in `both it and this licence`, while `the` is spoken a minute later. Words that were heard on both
/// sides of such speech are in doubt, too.
struct RowEdges {
  private let words: [SpokenWord]
  private let heard: [HeardWord]
  /// The words that were heard twice.
  private let echoes: Set<Int>

  /// What must speak for the words from the edge of a row on, so that they are beyond doubt: as much
  /// as for a word that stands alone.
  private static let least = HeardRow.loneliness
  /// Words beside a doubt belong to a row only with so many others.
  private static let fewest = 3

  /// Looks at rows of a text and at all that was heard, where some words were heard twice.
  init(of words: [SpokenWord], heard: [HeardWord], echoes: Set<Int>) {
    self.words = words
    self.heard = heard
    self.echoes = echoes
  }

  /// The words of rows, with those contested that could as well be elsewhere.
  ///
  /// Complexity: O(words).
  func contest(_ rows: [ArraySlice<TrustedWord>], in whole: Range<Int>) -> [TrustedWord] {
    var rows = rows.map { contested(Array($0)) }
    guard let first = rows.first?.first, let last = rows.last?.last else { return [] }
    if hasSurplus(whole.lowerBound..<first.place.lowerBound, words: 0..<first.word) {
      contestWeak(&rows[0], indices: Array(rows[0].indices))
    }
    for next in rows.indices.dropFirst() {
      guard let a = rows[next - 1].last, let b = rows[next].first else { continue }
      let between = a.word + 1..<b.word
      if hasSurplus(a.place.upperBound..<b.place.lowerBound, words: between) {
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

  /// A row with the words contested that were heard twice, and all of it if too few are left.
  private func contested(_ row: [TrustedWord]) -> [TrustedWord] {
    func isEcho(_ word: TrustedWord) -> Bool { echoes.contains(word.word) }
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

/// A word of a text that was heard among its neighbours, so that its place is beyond doubt.
struct TrustedWord: Hashable {
  /// Its number in the text.
  let word: Int
  /// The numbers of the heard words that it is.
  let heard: Range<Int>
  /// When it was heard, in hundredths of a second.
  let place: Range<Int>
  /// Whether it could as well be elsewhere, beside speech that the text lacks.
  var isContested = false
  /// Where the speech ends that says the words around it once more, and lies before it, in hundredths
  /// of a second; nil where there is none.
  var readingEnd: Int?

  /// So many words must have been heard one after the other.
  private static let run = 3
  /// A shorter row that stands alone amid speech that the text lacks may be the same phrase at
  /// another place.
  private static let lonelyRun = 5
  /// So many more words are heard beside it than the text has.
  private static let strangers = 3
  /// In a text of no more words, one that is not spoken may leave no row: a third of all is enough.
  private static let fewWords = 12
  /// How long a word lasts that is spoken slowly, and a pause among a few of them, in hundredths of a
  /// second.
  private static let slowWord = 60
  private static let pause = 200

  /// The words that were heard in runs, in order.
  ///
  /// In a short text of which a third was heard together, and half of what was heard for sure is of
  /// it, every word that was heard is trusted.
  ///
  /// - Parameters:
  ///   - sureCount: how many words were heard in rows that enough speaks for.
  ///   - whole: where anything can be spoken at all, in hundredths of a second.
  static func find(
    in reading: OneReading, heard: [HeardWord], sureCount: Int, whole: Range<Int>
  ) -> [TrustedWord] {
    let words = reading.words
    var found: [TrustedWord] = []
    var echoes: Set<Int> = []
    var readingEnd: Int?
    for (number, keys) in reading.keys.enumerated() where words[number].isSpoken {
      if keys.contains(where: reading.doubtful.contains) { echoes.insert(number) }
      readingEnd = keys.compactMap { reading.beginnings[$0] }.last ?? readingEnd
      guard let start = keys.first, let first = reading.heard[start] else { continue }
      let followEachOther = keys.allSatisfy { reading.heard[$0] == first + $0 - start }
      guard followEachOther else { continue }
      let last = heard[first + keys.count - 1]
      let place = heard[first].hundredths.lowerBound..<last.hundredths.upperBound
      found.append(
        TrustedWord(
          word: number, heard: first..<first + keys.count, place: place, readingEnd: readingEnd))
      readingEnd = nil
    }
    let spoken = words.count(where: \.isSpoken)
    if spoken <= fewWords, 3 * found.count >= spoken, 2 * found.count >= sureCount,
      areTogether(found, words)
    {
      return found
    }
    let runs = runs(of: found, words).filter { $0.count >= min(run, spoken) }
    let rows = runs.indices.filter { !isLonely($0, among: runs, words) }.map { runs[$0] }
    return RowEdges(of: words, heard: heard, echoes: echoes).contest(rows, in: whole)
  }

  /// Whether words lie no further apart than they would if all between them were spoken slowly.
  private static func areTogether(_ found: [Self], _ words: [SpokenWord]) -> Bool {
    guard let first = found.first, let last = found.last else { return true }
    let count = words[first.word...last.word].count(where: \.isSpoken)
    return last.place.upperBound - first.place.lowerBound <= count * slowWord + pause
  }

  /// Whether a short row has speech on both sides that the text lacks.
  private static func isLonely(
    _ index: Int, among runs: [ArraySlice<Self>], _ words: [SpokenWord]
  ) -> Bool {
    guard runs[index].count < lonelyRun, index > 0, index + 1 < runs.count else { return false }
    func strangers(_ before: Self?, _ after: Self?) -> Int {
      guard let before, let after else { return 0 }
      let between = words[before.word + 1..<after.word].count(where: \.isSpoken)
      return after.heard.lowerBound - before.heard.upperBound - between
    }
    return strangers(runs[index - 1].last, runs[index].first) >= Self.strangers
      && strangers(runs[index].last, runs[index + 1].first) >= Self.strangers
  }

  /// Parts words where others stand between two, in the text or in what was heard.
  private static func runs(of found: [TrustedWord], _ words: [SpokenWord]) -> [ArraySlice<Self>] {
    var runs: [ArraySlice<TrustedWord>] = []
    var start = 0
    for index in found.indices {
      let isLast = index + 1 == found.count
      if isLast || !found[index].isFollowed(by: found[index + 1], in: words) {
        runs.append(found[start...index])
        start = index + 1
      }
    }
    return runs
  }

  /// Whether nothing that is spoken stands between the two, neither in the text nor in what was
  /// heard, unless it is another reading of the same words.
  func isFollowed(by next: TrustedWord, in words: [SpokenWord]) -> Bool {
    (heard.upperBound == next.heard.lowerBound || next.readingEnd != nil)
      && !words[word + 1..<next.word].contains(where: \.isSpoken)
  }
}

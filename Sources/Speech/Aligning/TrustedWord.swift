/// A word of a text that was heard among its neighbours, so that its place is beyond doubt.
struct TrustedWord: Hashable {
  /// Its number in the text.
  let word: Int
  /// The numbers of the heard words that it is.
  let heard: Range<Int>
  /// When it was heard, in hundredths of a second.
  let place: Range<Int>

  /// So many words must have been heard one after the other.
  private static let run = 3

  /// The words that were heard in runs, in order.
  ///
  /// In a text that is shorter than a run, every word that was heard is trusted.
  static func find(
    in words: [SpokenWord], matching: WordMatching, heard: [HeardWord]
  ) -> [TrustedWord] {
    var found: [TrustedWord] = []
    var key = 0
    for (number, word) in words.enumerated() {
      let count = word.ways.first?.count ?? 0
      defer { key += count }
      guard count > 0, let first = matching.heard[key] else { continue }
      let followEachOther = (0..<count).allSatisfy { matching.heard[key + $0] == first + $0 }
      guard followEachOther else { continue }
      let last = heard[first + count - 1]
      found.append(
        TrustedWord(
          word: number, heard: first..<first + count, place: heard[first].first..<last.end))
    }
    let spoken = words.count(where: \.isSpoken)
    return runs(of: found, words).filter { $0.count >= min(run, spoken) }.flatMap(\.self)
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
  /// heard.
  func isFollowed(by next: TrustedWord, in words: [SpokenWord]) -> Bool {
    heard.upperBound == next.heard.lowerBound
      && !words[word + 1..<next.word].contains(where: \.isSpoken)
  }
}

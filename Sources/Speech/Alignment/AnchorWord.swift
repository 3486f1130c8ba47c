/// A word of a text that was heard among its neighbours, so that its place is an anchor.
struct AnchorWord: Hashable {
  /// Its number in the text.
  let word: Int
  /// The numbers of the heard words that it is.
  let heard: Range<Int>
  /// When it was heard, in frames (10 ms).
  let place: Range<Int>
  /// Whether it could as well be elsewhere, beside speech that the text lacks.
  var isContested = false
  /// Where the speech ends that says the words around it once more, and lies before it, in frames;
  /// nil where there is none.
  var readingEnd: Int?

  /// So many words must have been heard one after the other.
  private static let run = 3
  /// A shorter anchor run that stands alone amid speech that the text lacks may be the same phrase
  /// at another place.
  private static let lonelyRun = 5
  /// So many more words are heard beside it than the text has.
  private static let strangers = 3
  /// In a text of no more words, one that is not spoken may leave no anchor run: a third of all is
  /// enough.
  private static let fewWords = 12
  /// How long a word lasts that is spoken slowly, and a pause among a few of them, in frames.
  private static let slowWord = 60
  private static let pause = 200

  /// The words that were heard in runs, in order.
  ///
  /// In a short text of which a third was heard together, and half of what was heard for sure is of
  /// it, every word that was heard is trusted.
  ///
  /// - Parameters:
  ///   - sureCount: how many words were heard in anchor runs that enough speaks for.
  ///   - whole: where anything can be spoken at all, in frames.
  static func find(
    in reading: RepetitionResolver, heard: [DecodedWord], sureCount: Int, whole: Range<Int>
  ) -> [AnchorWord] {
    let words = reading.words
    var found: [AnchorWord] = []
    var echoes: Set<Int> = []
    var readingEnd: Int?
    for (number, keys) in reading.keys.enumerated() where words[number].isSpoken {
      if keys.contains(where: reading.doubtful.contains) { echoes.insert(number) }
      readingEnd = keys.compactMap { reading.beginnings[$0] }.last ?? readingEnd
      guard let start = keys.first, let first = reading.heard[start] else { continue }
      let followEachOther = keys.allSatisfy { reading.heard[$0] == first + $0 - start }
      guard followEachOther else { continue }
      let last = heard[first + keys.count - 1]
      let place = heard[first].frames.lowerBound..<last.frames.upperBound
      found.append(
        AnchorWord(
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
    return RunEdges(words: words, heard: heard, echoes: echoes).contest(rows, in: whole)
  }

  /// Whether words lie no further apart than they would if all between them were spoken slowly.
  private static func areTogether(_ found: [Self], _ words: [SpokenWord]) -> Bool {
    guard let first = found.first, let last = found.last else { return true }
    let count = words[first.word...last.word].count(where: \.isSpoken)
    return last.place.upperBound - first.place.lowerBound <= count * slowWord + pause
  }

  /// Whether a short anchor run has speech on both sides that the text lacks.
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
  private static func runs(of found: [AnchorWord], _ words: [SpokenWord]) -> [ArraySlice<Self>] {
    var runs: [ArraySlice<AnchorWord>] = []
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
  func isFollowed(by next: AnchorWord, in words: [SpokenWord]) -> Bool {
    (heard.upperBound == next.heard.lowerBound || next.readingEnd != nil)
      && !words[word + 1..<next.word].contains(where: \.isSpoken)
  }
}

/// Doubts of the words at the edges of anchor runs that have speech beside them which the text
/// lacks.
///
/// Where an anchor run ends and speech goes on that is none of the text, the next word of the text
/// is looked for in it as well, and short words resemble something nearly everywhere: `both it and
/// | the` may be heard in `both it and this licence`, while `the` is spoken a minute later. Words
/// that were heard on both sides of such speech are in doubt, too.
struct RunEdges {
  /// The text.
  let words: [SpokenWord]
  /// All that was heard.
  let heard: [DecodedWord]
  /// The words that were heard twice.
  let echoes: Set<Int>

  /// The evidence that is needed for the words from the edge of an anchor run on, so that they are
  /// anchors: as much as for a word that stands alone.
  private static let least = DecodedWord.loneliness
  /// Words beside a doubt belong to an anchor run only with so many others.
  private static let fewest = 3

  /// The words of anchor runs, with those contested that could as well be elsewhere.
  ///
  /// Complexity: O(words).
  func contest(_ rows: [ArraySlice<AnchorWord>], in whole: Range<Int>) -> [AnchorWord] {
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
    return count > 0 && room.count > UnanchoredSegment.mostTime(of: count)
  }

  /// Contests words from an edge on, until enough speaks for them together.
  private func contestWeak(_ row: inout [AnchorWord], indices: [Int]) {
    var evidence = 0.0
    for index in indices where heard[row[index].heard.lowerBound].evidence != nil {
      evidence += heard[row[index].heard].reduce(0) { $0 + $1.ownEvidence }
      guard evidence < Self.least else { return }
      row[index].isContested = true
    }
  }

  /// An anchor run with the words contested that were heard twice, and all of it if too few are
  /// left.
  private func contested(_ row: [AnchorWord]) -> [AnchorWord] {
    func isEcho(_ word: AnchorWord) -> Bool { echoes.contains(word.word) }
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

/// The evidence that is needed for an anchor run, so that it counts as heard: the longer the time
/// in which a text is looked for, the better its words come to resemble something in it.
struct RunLimit {
  /// The evidence, as the logarithm of a likelihood.
  let least: Double

  /// In recordings of ten seconds and more, of 150 anchor runs of two words or more that were
  /// spoken 10 had less than the most that is asked for, of 880 others 43 had more; single words
  /// that were not spoken had more in 18 of 6,168 cases. In recordings of up to three seconds, of
  /// 26 others 3 had more than 20, and of 29 that were spoken none had less than 100.
  private static let most = 100.0
  private static let perSecond = 10.0

  /// The limit for texts of one word, which has no neighbours that could speak for it: of a hundred
  /// that were spoken 91 had more, of 96 others 35.
  private static let single = -30.0

  /// The limit for anchor runs that are heard in so many frames, of a text of so many words.
  init(in frameCount: Int, wordCount: Int) {
    least = wordCount == 1 ? Self.single : min(Self.most, Self.perSecond * Double(frameCount) / 100)
  }

  /// Whether a word was heard in an anchor run with enough evidence, or has no evidence.
  func allows(_ word: DecodedWord) -> Bool { word.evidence.map { $0 >= least } ?? true }
}

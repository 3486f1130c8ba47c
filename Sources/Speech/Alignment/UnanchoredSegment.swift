import Platform

/// A piece whose words may not all be spoken in it.
struct UnanchoredSegment {
  /// What came of aligning a piece.
  struct Outcome: Hashable, Codable {
    /// What was heard of each of its words; empty where nothing was.
    var words: [[DecodedWord]]
    /// How well each word fits, as far as that was asked: the acoustic score of a frame.
    var scores: [Double?]
  }

  let words: [SpokenWord]
  /// Where each was heard in an anchor run, in frames (10 ms) of the recording; nil for words
  /// without an anchor.
  let places: [Range<Int>?]
  /// Where the piece begins.
  let origin: Int

  /// Words that score so much less than those that are sure are not spoken.
  private static let poorness = 5.0
  /// A pause beside doubtful words that is nothing unusual, in frames.
  private static let pause = 200
  /// So many words that are sure are judged beside those that are not, on either side.
  private static let context = 2
  /// Of a long run, so many words are judged at either end and in the middle.
  private static let sample = 6
  /// How much sound beside the judged words is looked at, in frames.
  private static let margin = 15
  /// So many words, in so much time each, in frames, are placed without being judged: whatever is
  /// said there, they cannot be far away.
  private static let unjudged = (count: 8, each: 10...60)

  /// Puts the words in their places; those that are not heard have none.
  ///
  /// All words are placed exactly. Then those without an anchor are judged among their neighbours,
  /// which takes libpocketsphinx three times as long; where they fit badly, everything is placed
  /// once more without them.
  func align(with aligner: any Aligner, in sound: [Int16]) throws(SpoolError) -> Outcome {
    var outcome = Outcome(words: words.map { _ in [] }, scores: words.map { _ in nil })
    var spoken = Array(repeating: true, count: words.count)
    var placed = try place(spoken, with: aligner, in: sound)
    for run in doubtfulRuns() where !fits(run) {
      if try judge(run, placed, with: aligner, in: sound, into: &outcome) {
        if isLost(run, in: sound) {
          for word in run { outcome.scores[word] = DecodedWord.unsaid }
        }
        continue
      }
      for word in run { spoken[word] = false }
    }
    if spoken.contains(false) { placed = try place(spoken, with: aligner, in: sound) ?? placed }
    if let found = placed {
      outcome.words = try likelier(than: found, &spoken, with: aligner, in: sound) ?? found
    } else {
      rescue(&outcome)
    }
    for word in words.indices where outcome.words[word].isEmpty { outcome.scores[word] = nil }
    return outcome
  }

  /// The words without an anchor, in runs of neighbours.
  private func doubtfulRuns() -> [Range<Int>] {
    var runs: [Range<Int>] = []
    for word in words.indices where words[word].isSpoken && places[word] == nil {
      runs.add(word..<word + 1) { !words[$0.upperBound..<word].contains(where: \.isSpoken) }
    }
    return runs
  }

  /// Whether a few words have neighbours that leave them as much time as they need.
  private func fits(_ run: Range<Int>) -> Bool {
    let count = words[run].count(where: \.isSpoken)
    let (before, after) = neighbours(of: run)
    guard count <= Self.unjudged.count, let before, let after else { return false }
    let room = after.lowerBound - before.upperBound
    return room >= count * Self.unjudged.each.lowerBound
      && room <= count * Self.unjudged.each.upperBound
  }

  /// Where the spoken words beside others were heard in anchor runs.
  private func neighbours(of run: Range<Int>) -> (before: Range<Int>?, after: Range<Int>?) {
    (
      words[..<run.lowerBound].lastIndex(where: \.isSpoken).flatMap { places[$0] },
      words[run.upperBound...].firstIndex(where: \.isSpoken).flatMap { places[$0] }
    )
  }

  /// Whether words have so much more time than they need that they could be anywhere in it: each
  /// of a few words resembles something that is said in so long a time. Where it is as quiet as in a
  /// pause, as while the other speaker of two is heard, they cannot be.
  private func isLost(_ run: Range<Int>, in sound: [Int16]) -> Bool {
    let (before, after) = neighbours(of: run)
    let first = (before?.upperBound ?? origin) - origin
    let end = (after?.lowerBound).map { $0 - origin } ?? sound.count / LevelTrace.step
    let most = Self.mostTime(of: words[run].count(where: \.isSpoken))
    guard end - first > most else { return false }
    var trace = LevelTrace()
    trace.add(sound.span)
    return trace.time(of: first..<end, withoutPausesOf: Self.pause / 2) > most
  }

  /// The most time that so many words take and a pause beside them, in frames.
  static func mostTime(of count: Int) -> Int { count * unjudged.each.upperBound + pause }

  /// Looks whether words are spoken between their neighbours, and keeps the scores of those that
  /// were looked at.
  private func judge(
    _ run: Range<Int>, _ placed: [[DecodedWord]]?, with aligner: any Aligner, in sound: [Int16],
    into outcome: inout Outcome
  ) throws(SpoolError) -> Bool {
    var sure: [DecodedWord] = []
    var doubtful: [DecodedWord] = []
    for window in windows(of: run, isPlaced: placed != nil) {
      let place = place(of: window, placed, upTo: sound.count / LevelTrace.step)
      guard place.count > 2 * Self.margin else { continue }
      let expected = Array(words[window])
      let part = Self.part(place, of: sound)
      guard let judged = try aligner.align(expected, in: part.span, isExact: false) else {
        continue
      }
      for (word, heard) in zip(window, judged) {
        guard let score = heard.meanScore else { continue }
        outcome.scores[word] = score
        if run.contains(word) { doubtful += heard } else { sure += heard }
      }
    }
    // Those that were not looked at are as good as those that were.
    let mean = doubtful.meanScore
    for word in run where outcome.scores[word] == nil {
      outcome.scores[word] = mean ?? DecodedWord.unsaid
    }
    guard let score = mean else { return placed != nil }
    return score >= (sure.meanScore ?? score) - Self.poorness
  }

  /// The words that are judged together: a short run with its neighbours; of a long one the
  /// beginning, the middle and the end.
  private func windows(of run: Range<Int>, isPlaced: Bool) -> [Range<Int>] {
    let before = words.indices[..<run.lowerBound].reversed().filter { words[$0].isSpoken }
      .prefix(Self.context).prefix { places[$0] != nil }.last
    let after = words.indices[run.upperBound...].filter { words[$0].isSpoken }
      .prefix(Self.context).prefix { places[$0] != nil }.last
    let whole = (before ?? run.lowerBound)..<(after ?? run.upperBound - 1) + 1
    guard isPlaced, run.count > 4 * Self.sample else { return [whole] }
    let middle = (run.lowerBound + run.upperBound - Self.sample) / 2
    return [
      whole.lowerBound..<run.lowerBound + Self.sample, middle..<middle + Self.sample,
      run.upperBound - Self.sample..<whole.upperBound,
    ]
  }

  /// Where words lie in the piece: where the outer ones were heard in an anchor run, or else were
  /// placed.
  func place(
    of window: Range<Int>, _ placed: [[DecodedWord]]?, upTo end: Int
  ) -> Range<Int> {
    func known(_ word: Int) -> Range<Int>? {
      if let place = places[word] { return place }
      guard let first = placed?[word].first, let last = placed?[word].last else { return nil }
      return first.frames.lowerBound..<last.frames.upperBound
    }
    let start = known(window.lowerBound).map { $0.lowerBound - origin - Self.margin } ?? 0
    let stop = known(window.upperBound - 1).map { $0.upperBound - origin + Self.margin } ?? end
    let lower = min(max(0, start), end)
    return lower..<max(lower, min(end, stop))
  }

  /// Where the words are that are spoken, as far as that is known; nil where they cannot be heard
  /// in this order.
  func place(
    _ spoken: [Bool], with aligner: any Aligner, in sound: [Int16]
  ) throws(SpoolError) -> [[DecodedWord]]? {
    let expected = expected(spoken)
    guard expected.contains(where: \.isSpoken) else { return words.map { _ in [] } }
    return try aligner.align(expected, in: sound.span, isExact: true)?
      .map { $0.map { $0.moved(by: origin) } }
  }

  /// The samples of some frames.
  static func part(_ place: Range<Int>, of sound: [Int16]) -> [Int16] {
    Array(sound[place.lowerBound * LevelTrace.step..<place.upperBound * LevelTrace.step])
  }

  /// The words as far as they are taken for spoken.
  func expected(_ spoken: [Bool]) -> [SpokenWord] {
    zip(words, spoken).map { $1 ? $0 : SpokenWord(variants: []) }
  }

  /// Takes the places where words were heard in an anchor run, when nothing better can be had.
  private func rescue(_ outcome: inout Outcome) {
    for (word, place) in places.enumerated() {
      guard let place, let key = words[word].variants.first?.first else { continue }
      outcome.words[word] = [DecodedWord(key: key, frames: place, score: 0)]
    }
  }

  /// Words of less goodness may not be spoken, if it is also so much less than that of the words
  /// that were heard in anchor runs.
  private static let strangeness = -4.0
  private static let distance = 3.0
  /// Without a word that was not spoken the sound must be so much likelier, and no more words are
  /// tried. Of words that stand between two that are spoken, and are not, nine in ten gain more; of
  /// words in the place of others one in four does, and of spoken ones one in seven, of those that
  /// resemble the sound so little.
  private static let gain = 60.0
  private static let mostTries = 4
  /// So many words on either side are looked at with it.
  private static let reach = 3

  /// Where the words are without those that were not spoken: without them the sound is likelier, though
  /// nothing but their neighbours, silence and noise is left to explain it. Nil where all were spoken.
  func likelier(
    than found: [[DecodedWord]], _ spoken: inout [Bool], with aligner: any Aligner,
    in sound: [Int16]
  ) throws(SpoolError) -> [[DecodedWord]]? {
    var areAllSpoken = true
    for word in strangest(of: found)
    where try isUnsaid(word, among: spoken, found, with: aligner, in: sound) {
      spoken[word] = false
      areAllSpoken = false
    }
    return areAllSpoken ? nil : try place(spoken, with: aligner, in: sound)
  }

  /// Whether a few words are likelier without one of them.
  private func isUnsaid(
    _ word: Int, among spoken: [Bool], _ found: [[DecodedWord]], with aligner: any Aligner,
    in sound: [Int16]
  ) throws(SpoolError) -> Bool {
    let before = spoken.indices[..<word].filter { spoken[$0] }.suffix(Self.reach)
    let after = spoken.indices[(word + 1)...].filter { spoken[$0] }.prefix(Self.reach)
    let window = (before.first ?? word)..<(after.last ?? word) + 1
    guard window.count > 1 else { return false }
    let place = place(of: window, found, upTo: sound.count / LevelTrace.step)
    let with = Array(expected(spoken)[window])
    var without = with
    without[word - window.lowerBound] = SpokenWord(variants: [])
    let scores = try aligner.scores(
      of: [with, without], in: Self.part(place, of: sound).span)
    guard let likely = scores[0], let likelier = scores[1] else { return false }
    return likelier > likely + Self.gain
  }

  /// The words that resemble the sound least, of those without an anchor and that hardly do.
  private func strangest(of found: [[DecodedWord]]) -> [Int] {
    let goodness = found.map(\.leastGoodness)
    let sure = found.indices.filter { places[$0] != nil }.compactMap { goodness[$0] }.sorted()
    let usual = sure.isEmpty ? 0 : sure[sure.count / 2]
    let least = min(Self.strangeness, usual - Self.distance)
    let strange = found.indices.filter { places[$0] == nil && goodness[$0] ?? 0 < least }
    return Array(strange.sorted { goodness[$0] ?? 0 < goodness[$1] ?? 0 }.prefix(Self.mostTries))
  }
}

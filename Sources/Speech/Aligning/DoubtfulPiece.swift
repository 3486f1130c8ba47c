/// A piece whose words may not all be spoken in it.
struct DoubtfulPiece {
  /// Its words.
  let words: [SpokenWord]
  /// Where each was heard in a row with others, in hundredths of a second of the recording; nil for
  /// words that nobody is sure of.
  let places: [Range<Int>?]
  /// Where the piece begins.
  let origin: Int

  /// Words that score so much less than those that are sure are not spoken.
  private static let poorness = 5.0
  /// A pause beside doubtful words that is nothing unusual, in hundredths of a second.
  private static let pause = 200
  /// So many words that are sure are judged beside those that are not, on either side.
  private static let context = 2
  /// Of a long row, so many words are judged at either end and in the middle.
  private static let sample = 6
  /// How much sound beside the judged words is looked at, in hundredths of a second.
  private static let margin = 15
  /// So many words, in so much time each, in hundredths of a second, are placed without being
  /// judged: whatever is said there, they cannot be far away.
  private static let unjudged = (count: 8, each: 10...60)

  /// Puts the words in their places; those that are not heard have none.
  ///
  /// All words are placed quickly. Then those that nobody is sure of are judged among their
  /// neighbours, which takes libpocketsphinx three times as long; where they fit badly, everything is
  /// placed once more without them.
  func align(with desk: AlignerDesk, in sound: [Int16]) throws(SpeechError) -> PieceOutcome {
    var outcome = PieceOutcome(words: words.map { _ in [] }, scores: words.map { _ in nil })
    var spoken = Array(repeating: true, count: words.count)
    var placed = try place(spoken, with: desk, in: sound)
    for run in doubtfulRuns() where !fits(run) {
      if try judge(run, placed, with: desk, in: sound, into: &outcome) {
        if isLost(run, in: sound) {
          for word in run { outcome.scores[word] = HeardWord.unsaid }
        }
        continue
      }
      for word in run { spoken[word] = false }
    }
    if spoken.contains(false) { placed = try place(spoken, with: desk, in: sound) ?? placed }
    if let found = placed {
      outcome.words = try likelier(than: found, &spoken, with: desk, in: sound) ?? found
    } else {
      rescue(&outcome)
    }
    for word in words.indices where outcome.words[word].isEmpty { outcome.scores[word] = nil }
    return outcome
  }

  /// The words that nobody is sure of, in rows.
  private func doubtfulRuns() -> [Range<Int>] {
    var runs: [Range<Int>] = []
    for word in words.indices where words[word].isSpoken && places[word] == nil {
      if let last = runs.last, !words[last.upperBound..<word].contains(where: \.isSpoken) {
        runs[runs.count - 1] = last.lowerBound..<word + 1
      } else {
        runs.append(word..<word + 1)
      }
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

  /// Where the spoken words beside others were heard in rows.
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

  /// The most time that so many words take and a pause beside them, in hundredths of a second.
  static func mostTime(of count: Int) -> Int { count * unjudged.each.upperBound + pause }

  /// Looks whether words are spoken between their neighbours, and keeps the scores of those that
  /// were looked at.
  private func judge(
    _ run: Range<Int>, _ placed: [[HeardWord]]?, with desk: AlignerDesk, in sound: [Int16],
    into outcome: inout PieceOutcome
  ) throws(SpeechError) -> Bool {
    var sure: [HeardWord] = []
    var doubtful: [HeardWord] = []
    for window in windows(of: run, isPlaced: placed != nil) {
      let place = place(of: window, placed, upTo: sound.count / LevelTrace.step)
      guard place.count > 2 * Self.margin else { continue }
      let expected = Array(words[window])
      let part = Self.part(place, of: sound)
      guard let judged = try desk.judging().align(expected, in: part.span) else { continue }
      for (word, heard) in zip(window, judged.words) {
        guard let score = HeardWord.meanScore(of: heard) else { continue }
        outcome.scores[word] = score
        if run.contains(word) { doubtful += heard } else { sure += heard }
      }
    }
    // Those that were not looked at are as good as those that were.
    let mean = HeardWord.meanScore(of: doubtful)
    for word in run where outcome.scores[word] == nil {
      outcome.scores[word] = mean ?? HeardWord.unsaid
    }
    guard let score = mean else { return placed != nil }
    return score >= (HeardWord.meanScore(of: sure) ?? score) - Self.poorness
  }

  /// The words that are judged together: a short row with its neighbours; of a long one the
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

  /// Where words lie in the piece: where the outer ones were heard in a row, or else were placed.
  func place(
    of window: Range<Int>, _ placed: [[HeardWord]]?, upTo end: Int
  ) -> Range<Int> {
    func known(_ word: Int) -> Range<Int>? {
      if let place = places[word] { return place }
      guard let first = placed?[word].first, let last = placed?[word].last else { return nil }
      return first.hundredths.lowerBound..<last.hundredths.upperBound
    }
    let start = known(window.lowerBound).map { $0.lowerBound - origin - Self.margin } ?? 0
    let stop = known(window.upperBound - 1).map { $0.upperBound - origin + Self.margin } ?? end
    let lower = min(max(0, start), end)
    return lower..<max(lower, min(end, stop))
  }

  /// Where the words are that are spoken, as far as that is known; nil where they cannot be heard
  /// in this order.
  func place(
    _ spoken: [Bool], with desk: AlignerDesk, in sound: [Int16]
  ) throws(SpeechError) -> [[HeardWord]]? {
    let expected = expected(spoken)
    guard expected.contains(where: \.isSpoken) else { return words.map { _ in [] } }
    return try desk.quick().align(expected, in: sound.span)?.words
      .map { $0.map { $0.moved(by: origin) } }
  }

  /// The samples of some hundredths of a second.
  static func part(_ place: Range<Int>, of sound: [Int16]) -> [Int16] {
    Array(sound[place.lowerBound * LevelTrace.step..<place.upperBound * LevelTrace.step])
  }

  /// The words as far as they are taken for spoken.
  func expected(_ spoken: [Bool]) -> [SpokenWord] {
    zip(words, spoken).map { $1 ? $0 : SpokenWord(ways: []) }
  }

  /// Takes the places where words were heard in a row, when nothing better can be had.
  private func rescue(_ outcome: inout PieceOutcome) {
    for (word, place) in places.enumerated() {
      guard let place, let key = words[word].ways.first?.first else { continue }
      outcome.words[word] = [HeardWord(key: key, hundredths: place, score: 0)]
    }
  }
}

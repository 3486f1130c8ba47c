/// Puts the tiers of a TextGrid together: the words of a speaker into the segments of the same
/// speaker in which they are spoken.
struct TextGridWeaving {
  private typealias Interval = TextGridTier.Interval
  private var segmentsOf: [String?: [Interval]] = [:]
  private var wordsOf: [String?: [Interval]] = [:]

  /// Notes an interval; one without text is silence.
  mutating func add(_ interval: TextGridTier.Interval, of tier: TextGridTier) {
    guard !interval.text.isEmpty else { return }
    switch tier.content {
    case .segments: segmentsOf[tier.speaker, default: []].append(interval)
    case .words: wordsOf[tier.speaker, default: []].append(interval)
    case nil: break
    }
  }

  /// The segments with their words, in the order in which they begin. O(n log n).
  var segments: [Segment] {
    let speakers = Set(segmentsOf.keys).union(wordsOf.keys)
      .sorted { ($0 ?? "") < ($1 ?? "") }
    let all = speakers.flatMap(segments)
    return Self.ordered(all) { $0.start ?? 0 }
  }

  private func segments(of speaker: String?) -> [Segment] {
    let words = Self.ordered(wordsOf[speaker] ?? [], by: \.start)
      .map { TimedWord($0.text, start: $0.start, end: $0.end) }
    let spoken = Self.ordered(segmentsOf[speaker] ?? [], by: \.start)
    guard !spoken.isEmpty else {
      return words.isEmpty ? [] : [Segment(words: words, speaker: speaker)]
    }
    // A word belongs to the last segment that has begun and has not ended; speech of one speaker
    // overlaps itself hardly ever, so few are looked at.
    var parts = spoken.map { _ in [TimedWord]() }
    var begun = 0
    for word in words {
      let start = word.start ?? 0
      while begun < spoken.count, spoken[begun].start <= start { begun += 1 }
      let near = spoken.indices[..<begun].suffix(8)
      let home = near.last { spoken[$0].end >= word.end ?? start } ?? near.last ?? 0
      parts[home].append(word)
    }
    return zip(spoken, parts).map { interval, words in
      WovenText.segment(
        interval.text, timed: words, start: interval.start, end: interval.end, speaker: speaker)
    }
  }

  /// By a time, and in the order in which they came where it is the same.
  private static func ordered<Item>(_ items: [Item], by time: (Item) -> Double) -> [Item] {
    items.enumerated()
      .sorted { (time($0.element), $0.offset) < (time($1.element), $1.offset) }
      .map(\.element)
  }
}

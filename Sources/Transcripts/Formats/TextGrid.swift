import Platform

/// Praat's TextGrid in its long form: a tier of segments and one of words for each speaker. The
/// short form is read as well.
///
/// Intervals of a tier cannot overlap: overlapping segments or words get further tiers.
extension TranscriptFormat {
  static let textGrid = TranscriptFormat(
    name: "textgrid", summary: "Praat's TextGrid, with tiers of segments and words",
    nameEndings: [".textgrid"], likeness: likeness, parse: parse, text: text)

  private static func likeness(of source: SourceText) -> Likeness {
    var tokens = TextGridTokens(source)
    guard case .text("ooTextFile")? = try? tokens.next() else { return .none }
    return .certain
  }

  private static func parse(_ source: SourceText) throws(SpoolError) -> Transcript {
    var tokens = TextGridTokens(source)
    guard try tokens.text("ooTextFile") == "ooTextFile" else {
      throw tokens.error(expected: "\"ooTextFile\"")
    }
    guard try tokens.text("the class") == "TextGrid" else {
      throw tokens.error(expected: "\"TextGrid\"")
    }
    _ = try tokens.number("where it begins")
    _ = try tokens.number("where it ends")
    guard case .flag("exists")? = try tokens.next() else { return Transcript() }
    var tiers: [(tier: TextGridTier, intervals: [TextGridTier.Interval])] = []
    for _ in 0..<(try tokens.count("how many tiers there are")) {
      let kind = try tokens.text("the class of a tier")
      let tier = TextGridTier(name: try tokens.text("the name of a tier"))
      _ = try tokens.number("where the tier begins")
      _ = try tokens.number("where the tier ends")
      let count = try tokens.count("how many intervals the tier has")
      switch kind {
      case "IntervalTier":
        var intervals: [TextGridTier.Interval] = []
        for _ in 0..<count { intervals.append(try interval(&tokens)) }
        tiers.append((tier, intervals.filter { !$0.text.isEmpty }))
      case "TextTier":
        // Points carry no speech.
        for _ in 0..<count {
          _ = try tokens.number("a moment")
          _ = try tokens.text("its mark")
        }
      default: throw tokens.error(expected: "a tier of intervals or of moments")
      }
    }
    // Labels of one letter are codes, unless nothing else is there, or their tier is called as here.
    let spoken = tiers.filter {
      $0.tier.content != nil && ($0.tier.isOwn || !$0.intervals.allSatisfy(\.isCode))
    }
    var weaving = TextGridWeaving()
    for (tier, intervals) in spoken.isEmpty ? tiers : spoken {
      for interval in intervals { weaving.add(interval, of: tier) }
    }
    return Transcript(segments: weaving.segments)
  }

  private static func interval(
    _ tokens: inout TextGridTokens
  ) throws(SpoolError) -> TextGridTier.Interval {
    let start = try tokens.number("where an interval begins")
    guard start >= 0, start <= ByteScanner.longestTime else {
      throw tokens.error(expected: "a time of at least 0")
    }
    let end = try tokens.number("where an interval ends")
    guard end >= start, end <= ByteScanner.longestTime else {
      throw tokens.error(expected: "a time of at least \(start), where the interval begins")
    }
    return TextGridTier.Interval(
      start: start, end: end, text: WrittenWords.tidied(try tokens.text("the interval's text")))
  }

  private static func text(
    of transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    var stacks: [(tier: TextGridTier, levels: [[TextGridTier.Interval]])] = []
    func add(_ interval: TextGridTier.Interval, _ content: TextGridTier.Content, _ speaker: String?)
    {
      let known = stacks.firstIndex { $0.tier.content == content && $0.tier.speaker == speaker }
      if known == nil {
        stacks.append((TextGridTier(content: content, speaker: speaker), [[]]))
      }
      let index = known ?? stacks.count - 1
      let level = stacks[index].levels.firstIndex {
        $0.last.map { $0.end <= interval.start } ?? true
      }
      if level == nil { stacks[index].levels.append([]) }
      stacks[index].levels[level ?? stacks[index].levels.count - 1].append(interval)
    }
    for timed in try transcript.inTurns.timedSegments(for: textGrid.name) {
      let text = WrittenWords.tidied(timed.segment.text)
      // Praat allows no interval without length, and one without text is silence.
      guard timed.end > timed.start, !text.isEmpty else { continue }
      add(.init(start: timed.start, end: timed.end, text: text), .segments, timed.segment.speaker)
      for word in timed.segment.words where options.hasWordTimes {
        guard let start = word.start, let end = word.end, end > start else { continue }
        add(
          .init(start: start, end: end, text: word.text), .words,
          timed.segment.speaker)
      }
    }
    return text(
      of: stacks.flatMap { stack in
        stack.levels.enumerated().map { (stack.tier.name(number: $0.offset + 1), $0.element) }
      })
  }
}

/// Builds segments from the tiers of a TextGrid: each word belongs to its speaker's segment at that
/// time.
private struct TextGridWeaving {
  private typealias Interval = TextGridTier.Interval
  private var segmentsOf: [String?: [Interval]] = [:]
  private var wordsOf: [String?: [Interval]] = [:]

  /// Adds an interval with text.
  mutating func add(_ interval: TextGridTier.Interval, of tier: TextGridTier) {
    switch tier.content {
    case .segments: segmentsOf[tier.speaker, default: []].append(interval)
    case .words: wordsOf[tier.speaker, default: []].append(interval)
    case nil: break
    }
  }

  /// The segments with their words, by start time. O(n log n).
  var segments: [Segment] {
    let speakers = Set(segmentsOf.keys).union(wordsOf.keys)
      .sorted { ($0 ?? "") < ($1 ?? "") }
    return speakers.flatMap(segments).sorted { $0.start ?? 0 < $1.start ?? 0 }
  }

  private func segments(of speaker: String?) -> [Segment] {
    let words = (wordsOf[speaker] ?? []).sorted { $0.start < $1.start }
      .map { TimedWord($0.text, start: $0.start, end: $0.end) }
    let spoken = (segmentsOf[speaker] ?? []).sorted { $0.start < $1.start }
    guard !spoken.isEmpty else {
      return words.isEmpty ? [] : [Segment(words: words, speaker: speaker)]
    }
    // A word belongs to the last segment that has begun and not ended; a speaker's segments rarely
    // overlap, so few are examined.
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
}

/// The long form of a TextGrid.
extension TranscriptFormat {
  /// The file of some tiers with ordered, non-overlapping intervals. O(n).
  private static func text(of tiers: [(name: String, intervals: [TextGridTier.Interval])]) -> String
  {
    // Praat accepts no grid without length, and none without a tier.
    let end = tiers.compactMap { $0.intervals.last?.end }.max() ?? 1
    let tiers = tiers.isEmpty ? [("segments", [])] : tiers
    var text = """
      File type = "ooTextFile"
      Object class = "TextGrid"

      xmin = 0
      xmax = \(number(end))
      tiers? <exists>
      size = \(tiers.count)
      item []:

      """
    for (index, tier) in tiers.enumerated() {
      let intervals = filled(tier.intervals, to: end)
      text += """
            item [\(index + 1)]:
                class = "IntervalTier"
                name = \(quoted(tier.name))
                xmin = 0
                xmax = \(number(end))
                intervals: size = \(intervals.count)

        """
      for (index, interval) in intervals.enumerated() {
        text += """
                  intervals [\(index + 1)]:
                      xmin = \(number(interval.start))
                      xmax = \(number(interval.end))
                      text = \(quoted(interval.text))

          """
      }
    }
    return text
  }

  /// Intervals with empty ones between them: a tier has no gaps.
  private static func filled(
    _ intervals: [TextGridTier.Interval], to end: Double
  ) -> [TextGridTier.Interval] {
    var filled: [TextGridTier.Interval] = []
    var last = 0.0
    for interval in intervals {
      if interval.start > last { filled.append(.init(start: last, end: interval.start, text: "")) }
      filled.append(interval)
      last = interval.end
    }
    if last < end { filled.append(.init(start: last, end: end, text: "")) }
    return filled
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.replacing(scalar: "\"", with: "\"\"") + "\""
  }

  /// A number without an exponent, which not all readers accept; 10 µs precision.
  private static func number(_ time: Double) -> String {
    let text = time.description
    if text.utf8.contains(UInt8(ascii: "e")) { return ClockText.seconds(time, decimals: 6) }
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}

/// A tier of a TextGrid: its speaker, and whether it holds words or segments.
struct TextGridTier {
  /// The kind of a tier's intervals.
  enum Content: String {
    /// Words.
    case words
    case segments
  }

  struct Interval {
    let start: Double
    let end: Double
    let text: String

    /// Whether its text is no word of a language: at most one letter of ASCII, as in `L%`.
    var isCode: Bool {
      text.unicodeScalars.allSatisfy(\.isASCII) && text.count { $0.isLetter } < 2
    }
  }

  let content: Content?
  let speaker: String?
  /// Whether it is called as this program calls its tiers.
  var isOwn = false

  private static let names: [(part: String, content: Content?)] = [
    ("word", .words), ("phone", nil), ("phoneme", nil), ("syllable", nil), ("phonetic", nil),
    ("segmental", nil), ("tone", nil), ("accent", nil), ("stress", nil), ("foot", nil),
    ("intonation", nil), ("intonational", nil), ("intermediate", nil), ("break", nil),
    ("tobi", nil), ("pos", nil), ("lemma", nil), ("morpheme", nil),
  ]
  private static let plainNames: Set<String> = [
    "", "segments", "segment", "sentences", "sentence", "utterances", "utterance", "phrases",
    "phrase", "text", "transcript", "transcription", "ort", "orthography", "intervals",
  ]

  /// Its name; further tiers of the same name are numbered.
  func name(number: Int) -> String {
    let kind = (content ?? .segments).rawValue
    return (speaker.map { WrittenWords.onOneLine($0) + " - " } ?? "") + kind
      + (number > 1 ? " \(number)" : "")
  }
}

extension TextGridTier {
  /// Parses a tier name: `words`, `Amy - words`, `Amy`; a trailing number is ignored.
  init(name: String) {
    var name = WrittenWords.trimmed(name)
    let digits = name.reversed().prefix { $0.isNumber }.count
    let stem = WrittenWords.trimmed(String(name.dropLast(digits)))
    func kind(_ name: String) -> Content?? {
      let lower = name.lowercased()
      if let known = Self.names.first(where: { [$0.part, $0.part + "s"].contains(lower) }) {
        return .some(known.content)
      }
      return Self.plainNames.contains(lower) ? .some(.segments) : nil
    }
    if digits > 0, kind(stem) != nil || stem.contains(" - ") { name = stem }
    defer { isOwn = [Content.words, .segments].contains { name.hasSuffix($0.rawValue) } }
    if let known = kind(name) {
      self.init(content: known, speaker: nil)
    } else if let dash = name.ranges(of: " - ").last,
      let known = kind(String(name[dash.upperBound...]))
    {
      self.init(content: known, speaker: String(name[..<dash.lowerBound]))
    } else {
      self.init(content: .segments, speaker: name)
    }
  }
}

/// Praat's TextGrid, written in its long form: a tier of segments and one of words, for each speaker
/// their own. The short form is read as well.
///
/// Intervals of a tier cannot overlap: where segments or words do, there is a second tier of them.
enum TextGrid: TranscriptCodec {
  static let name = "textgrid"
  static let summary = "Praat's TextGrid, with tiers of segments and words"
  static let nameEndings = [".textgrid"]

  static func likeness(of source: SourceText) -> Likeness {
    var tokens = TextGridTokens(source)
    guard case .text("ooTextFile")? = try? tokens.next() else { return .none }
    return .certain
  }

  // MARK: Reading

  static func read(
    _ source: SourceText, _ options: ReadingOptions
  ) throws(TranscriptError) -> Transcript {
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
    var weaving = TextGridWeaving()
    for _ in 0..<(try tokens.count("how many tiers there are")) {
      let kind = try tokens.text("the class of a tier")
      let tier = TextGridTier(name: try tokens.text("the name of a tier"))
      _ = try tokens.number("where the tier begins")
      _ = try tokens.number("where the tier ends")
      let count = try tokens.count("how many intervals the tier has")
      switch kind {
      case "IntervalTier":
        for _ in 0..<count { weaving.add(try interval(&tokens), of: tier) }
      case "TextTier":
        // Moments are no speech.
        for _ in 0..<count {
          _ = try tokens.number("a moment")
          _ = try tokens.text("its mark")
        }
      default: throw tokens.error(expected: "a tier of intervals or of moments")
      }
    }
    return Transcript(segments: weaving.segments)
  }

  private static func interval(
    _ tokens: inout TextGridTokens
  ) throws(TranscriptError) -> TextGridTier.Interval {
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

  // MARK: Writing

  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(TranscriptError) -> String {
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
    for timed in try TimedSegment.all(of: transcript.inTurns) {
      let text = WrittenWords.tidied(timed.segment.text)
      // Praat knows no interval without length, and one without text is silence.
      guard timed.end > timed.start, !text.isEmpty else { continue }
      add(.init(start: timed.start, end: timed.end, text: text), .segments, timed.segment.speaker)
      for word in timed.segment.words where options.hasWordTimes {
        guard let start = word.start, let end = word.end, end > start else { continue }
        add(
          .init(start: start, end: end, text: word.text), .words,
          timed.segment.speaker)
      }
    }
    return TextGridWriting.text(
      of: stacks.flatMap { stack in
        stack.levels.enumerated().map { (stack.tier.name(number: $0.offset + 1), $0.element) }
      })
  }
}

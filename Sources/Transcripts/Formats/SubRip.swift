/// SubRip subtitles: a number, `00:00:01,000 --> 00:00:02,500`, lines of text, an empty line.
///
/// Who speaks stands before the text as WhisperX writes it: `[Name]: `. Tags of fonts and places,
/// `<i>`, `{\an8}`, are left out, and text that looks like one is kept apart from them by a
/// ``WordJoiner``; words have no times of their own.
enum SubRip: TranscriptCodec {
  static let name = "srt"
  static let summary = "SubRip subtitles"
  static let nameEndings = [".srt"]

  static func likeness(of source: SourceText) -> Likeness {
    var lines = source.lines
    guard let first = lines.nextWithText() else { return .possible }
    if CueTimes.areIn(first) { return .certain }
    guard isNumber(first), let second = lines.next(), CueTimes.areIn(second) else { return .none }
    return .certain
  }

  static func read(
    _ source: SourceText, _ options: ReadingOptions
  ) throws(TranscriptError) -> Transcript {
    var lines = source.lines
    var segments: [Segment] = []
    var text: [SourceLine] = []
    var times: (start: Double, end: Double?)?
    while let line = lines.next() {
      if CueTimes.areIn(line) {
        if let times { segments.append(segment(text, hasNumberBehind: true, times)) }
        times = try CueTimes.read(line).times
        text = []
      } else if times == nil {
        guard line.isBlank || isNumber(line) else {
          throw line.error(expected: "the number of a subtitle or its times")
        }
      } else {
        text.append(line)
      }
    }
    if let times { segments.append(segment(text, hasNumberBehind: false, times)) }
    return Transcript(segments: segments)
  }

  private static func isNumber(_ line: SourceLine) -> Bool {
    let text = WrittenWords.trimmed(line.text).utf8
    return !text.isEmpty && text.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// The subtitle of the lines between two lines of times, of which the last is the number of the
  /// next. Empty lines within the text, which some programs leave, do not end it.
  private static func segment(
    _ lines: [SourceLine], hasNumberBehind: Bool, _ times: (start: Double, end: Double?)
  ) -> Segment {
    var lines = lines
    if hasNumberBehind, let last = lines.last, isNumber(last) { lines.removeLast() }
    let text = WrittenWords.tidied(
      lines.map { SubRipText.read($0.text) }.joined(separator: "\n"))
    let (speaker, rest) = BracketedSpeaker.split(text)
    return Segment(text: rest, start: times.start, end: times.end, speaker: speaker)
  }

  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(TranscriptError) -> String {
    var text = ""
    for (index, timed) in try TimedSegment.all(of: transcript.inTurns).enumerated() {
      text += "\(index + 1)\n\(ClockText.hours(timed.start, point: ","))"
      text += " --> \(ClockText.hours(timed.end, point: ","))\n"
      let said = SubRipText.written(
        BracketedSpeaker.joined(
          timed.segment.speaker, WrittenWords.tidied(timed.segment.text)))
      text += said.isEmpty ? "\n" : said + "\n\n"
    }
    return text
  }
}

/// SubRip subtitles: a number, `00:00:01,000 --> 00:00:02,500`, lines of text, an empty line.
///
/// Who speaks stands before the text as WhisperX writes it: `[Name]: `. Tags of fonts and places,
/// `<i>`, `{\an8}`, are left out; words have no times of their own.
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
      lines.map { withoutTags($0.text) }.joined(separator: "\n"))
    let (speaker, rest) = BracketedSpeaker.split(text)
    return Segment(text: rest, start: times.start, end: times.end, speaker: speaker)
  }

  private static let tags: Set<String> = ["i", "b", "u", "font"]

  /// A line without tags of fonts, and without codes in braces.
  private static func withoutTags(_ line: String) -> String {
    var kept: [UInt8] = []
    var scanner = ByteScanner(Array(BraceCodes.removed(from: line).utf8)[...])
    while let byte = scanner.next {
      let start = scanner.position
      scanner.position += 1
      let isTag =
        byte == UInt8(ascii: "<") && scanner.take(upTo: UInt8(ascii: ">")).map(isTag) ?? false
      guard !isTag else { continue }
      kept.append(byte)
      scanner.position = start + 1
    }
    return String(decoding: kept, as: UTF8.self)
  }

  private static func isTag(_ tag: ArraySlice<UInt8>) -> Bool {
    let name = tag.drop { $0 == UInt8(ascii: "/") }.prefix { ($0 | 0x20) >= 0x61 && $0 < 0x7b }
    let behind = tag[name.endIndex...].first
    return (behind == nil || behind == 0x20)
      && tags.contains(String(decoding: name, as: UTF8.self).lowercased())
  }

  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(TranscriptError) -> String {
    var text = ""
    for (index, timed) in try TimedSegment.all(of: transcript.inTurns).enumerated() {
      text += "\(index + 1)\n\(ClockText.hours(timed.start, point: ","))"
      text += " --> \(ClockText.hours(timed.end, point: ","))\n"
      let said = BracketedSpeaker.joined(
        timed.segment.speaker, WrittenWords.tidied(timed.segment.text))
      text += said.isEmpty ? "\n" : said + "\n\n"
    }
    return text
  }
}

/// WebVTT subtitles (W3C): the language in the header, voices as `<v Name>`, and the times of words
/// between them, `<00:00:01.000>`, as karaoke has them.
///
/// Numbers and names of cues, their places on the screen, notes and styles are passed over.
enum WebVTT: TranscriptCodec {
  static let name = "vtt"
  static let summary = "WebVTT subtitles, with the times of words"
  static let nameEndings = [".vtt", ".webvtt"]

  static func likeness(of source: SourceText) -> Likeness {
    var lines = source.lines
    return lines.next().map(isSignature) == true ? .certain : .none
  }

  private static func isSignature(_ line: SourceLine) -> Bool {
    guard line.bytes.starts(with: "WEBVTT".utf8) else { return false }
    let behind = line.bytes.dropFirst(6).first
    return behind == nil || behind == 0x20 || behind == 0x09
  }

  // MARK: Reading

  static func read(
    _ source: SourceText, _ options: ReadingOptions
  ) throws(TranscriptError) -> Transcript {
    var lines = source.lines
    guard let first = lines.next(), isSignature(first) else {
      throw TranscriptError(
        .reading, at: TextPlace(line: 1, column: 1), "the first line does not begin with WEBVTT")
    }
    var transcript = Transcript()
    // The first block belongs to the header, up to an empty line or to the first cue.
    var isHeader = true
    var block: [SourceLine] = []
    while true {
      let line = lines.next()
      if let line, isHeader, transcript.language == nil { transcript.language = language(line) }
      if let line, !line.bytes.isEmpty, !startsCue(line, after: block) {
        block.append(line)
        continue
      }
      // A cue that follows without an empty line may have its name in the line above.
      if !isHeader || block.contains(where: CueTimes.areIn) {
        if let segment = try segment(of: block) { transcript.segments.append(segment) }
      }
      guard let line else { return transcript }
      isHeader = isHeader && !line.bytes.isEmpty && !CueTimes.areIn(line)
      if line.bytes.isEmpty { isHeader = false }
      block = line.bytes.isEmpty ? [] : [line]
    }
  }

  /// Whether a line begins another block without an empty line before it.
  private static func startsCue(_ line: SourceLine, after block: [SourceLine]) -> Bool {
    guard CueTimes.areIn(line) else { return false }
    return block.count > 1 || block.contains(where: CueTimes.areIn)
  }

  private static func language(_ line: SourceLine) -> String? {
    let text = line.text
    guard text.hasPrefix("Language:") else { return nil }
    let language = WrittenWords.trimmed(String(text.dropFirst("Language:".count)))
    return language.isEmpty ? nil : language
  }

  /// The cue of a block; nil where it is a note or a style.
  private static func segment(of block: [SourceLine]) throws(TranscriptError) -> Segment? {
    guard let index = block.prefix(2).firstIndex(where: CueTimes.areIn) else { return nil }
    let (start, end) = try CueTimes.read(block[index]).times
    let text = block[(index + 1)...].map(\.text).joined(separator: "\n")
    return InlineReading.segment(of: VTTCueText.pieces(of: text), start: start, end: end)
  }

  // MARK: Writing

  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(TranscriptError) -> String {
    var text = "WEBVTT\n"
    if let language = transcript.language.map(WrittenWords.onOneLine), !language.isEmpty {
      text += "Language: \(language)\n"
    }
    for timed in try TimedSegment.all(of: transcript) {
      text += "\n\(ClockText.hours(timed.start, point: "."))"
      text += " --> \(ClockText.hours(timed.end, point: "."))\n"
      var segment = timed.segment
      segment.text = WrittenWords.tidied(segment.text)
      let pieces = InlineWriting.pieces(
        of: segment, in: (rounded(timed.start), rounded(timed.end)),
        hasTimes: options.hasWordTimes, rounded: rounded)
      let line = VTTCueText.text(of: pieces)
      if !line.isEmpty { text += line + "\n" }
    }
    return text
  }

  private static func rounded(_ time: Double) -> Double {
    Double(ClockText.milliseconds(time)) / 1000
  }
}

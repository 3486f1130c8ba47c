import Platform

/// SubRip subtitles: a number, `00:00:01,000 --> 00:00:02,500`, lines of text, an empty line.
///
/// The speaker precedes the text in WhisperX's form, `[Name]: `; also read as in plain text, `NAME: `. Font and position tags, `<i>`,
/// `{\an8}`, are dropped, and text that looks like one is protected by a ``WordJoiner``; words have
/// no times.
extension TranscriptFormat {
  package static let subRip = TranscriptFormat(
    name: "srt", summary: "SubRip subtitles",
    nameEndings: [".srt"], likeness: likeness, parse: parse, text: text)

  private static func likeness(of source: SourceText) -> Likeness {
    var lines = source.lines
    guard let first = lines.nextWithText() else { return .possible }
    if CueTimes.areIn(first) { return .certain }
    guard isNumber(first), let second = lines.next(), CueTimes.areIn(second) else { return .none }
    return .certain
  }

  private static func parse(_ source: SourceText) throws(SpoolError) -> Transcript {
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
    return Transcript(segments: segments.withLabelledSpeakers)
  }

  private static func isNumber(_ line: SourceLine) -> Bool {
    let text = WrittenWords.trimmed(line.text).utf8
    return !text.isEmpty && text.allSatisfy(\.isDigit)
  }

  /// The subtitle between two timing lines; the last line is the next one's number. Empty lines
  /// within the text, which some programs write, do not end it.
  private static func segment(
    _ lines: [SourceLine], hasNumberBehind: Bool, _ times: (start: Double, end: Double?)
  ) -> Segment {
    var lines = lines
    if hasNumberBehind, let last = lines.last, isNumber(last) { lines.removeLast() }
    let text = WrittenWords.tidied(
      lines.map { Self.read($0.text) }.joined(separator: "\n"))
    let (speaker, rest) = BracketedSpeaker.split(text)
    return Segment(text: rest, start: times.start, end: times.end, speaker: speaker)
  }

  private static func text(
    of transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    var text = ""
    for (index, timed) in try transcript.inTurns.timedSegments(for: subRip.name).enumerated() {
      text += "\(index + 1)\n\(ClockText.hours(timed.start, point: ","))"
      text += " --> \(ClockText.hours(timed.end, point: ","))\n"
      let said = Self.written(
        BracketedSpeaker.joined(
          timed.segment.speaker, WrittenWords.tidied(timed.segment.text)))
      text += said.isEmpty ? "\n" : said + "\n\n"
    }
    return text
  }
}

/// The text of SubRip subtitles: font tags, position codes, and text that looks like them.
extension TranscriptFormat {
  private static let tags: Set<String> = ["i", "b", "u", "font"]

  /// Decodes a line without tags and codes. O(n).
  private static func read(_ line: String) -> String {
    var text = withoutTags(BraceCodes.removed(from: line))
    text = WordJoiner.unguarded(text, at: "<", if: beginsTag)
    text = WordJoiner.unguarded(text, at: "{") { $0.first == "\\" }
    return areTimes(text) ? WordJoiner.unguarded(text, at: "-") { $0.first == ">" } : text
  }

  /// Encodes text line by line so that no part of it parses as a tag, a code or a timing line.
  /// O(n).
  private static func written(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      var line = WordJoiner.guarded(String(line), at: "<", if: beginsTag)
      line = WordJoiner.guarded(line, at: "{") { $0.first == "\\" }
      return areTimes(line) ? WordJoiner.guarded(line, at: "-") { $0.first == ">" } : line
    }.joined(separator: "\n")
  }

  /// Whether a line without joiners would be a timing line.
  private static func areTimes(_ line: String) -> Bool {
    guard line.contains(">") else { return false }
    let bare = WordJoiner.removed(from: line)
    return CueTimes.areIn(Array(bare.utf8)[...])
  }

  private static func withoutTags(_ line: String) -> String {
    var kept: [UInt8] = []
    var scanner = ByteScanner(Array(line.utf8)[...])
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

  /// Whether the text after a `<` may be a tag.
  private static func beginsTag(_ rest: Substring.UnicodeScalarView) -> Bool {
    let name = rest.prefix(8).drop { $0 == "/" }.prefix { $0.isASCII && $0.properties.isAlphabetic }
    let behind = rest[name.endIndex...].first
    return (behind == ">" || behind == " ") && tags.contains(String(name).lowercased())
  }
}

package import Platform

/// A format for reading and writing transcripts.
package struct TranscriptFormat: Sendable {
  private let codec: any TranscriptCodec.Type

  private init(_ codec: any TranscriptCodec.Type) { self.codec = codec }

  /// All formats. Where several match a file, the first one counts.
  package static let all: [TranscriptFormat] = [
    TranscriptFormat(SpoolJSON.self), TranscriptFormat(WhisperJSON.self),
    TranscriptFormat(WhisperXJSON.self), TranscriptFormat(SubRip.self),
    TranscriptFormat(WebVTT.self), TranscriptFormat(TextGrid.self), TranscriptFormat(CTM.self),
    TranscriptFormat(AudacityLabels.self), TranscriptFormat(LRC.self), TranscriptFormat(TSV.self),
    TranscriptFormat(Markdown.self), TranscriptFormat(PlainText.self),
  ]

  /// Nil for an unknown name.
  package init?(named name: String) {
    guard let format = Self.all.first(where: { $0.name == name }) else { return nil }
    self = format
  }

  /// Its name in pipelines and on the command line: `srt`.
  package var name: String { codec.name }
  package var summary: String { codec.summary }
  /// Its file name endings with the dot and in lower case; the first is used for writing.
  package var nameEndings: [String] { codec.nameEndings }

  /// The file name ending with the dot.
  package var fileEnding: String { nameEndings.first ?? ".\(name)" }

  /// Whether it is shown on a screen during playback.
  package var isSubtitles: Bool { ["srt", "vtt"].contains(name) }

  /// Whether it cannot hold text without times.
  package var needsTimes: Bool {
    ["srt", "vtt", "textgrid", "ctm", "audacity", "lrc", "tsv"].contains(name)
  }

  /// Spool's own lossless format.
  package static let json = TranscriptFormat(SpoolJSON.self)

  /// Parses a file.
  ///
  /// The bytes may be UTF-8, UTF-16 with a byte order mark or Windows-1252, with any line ends.
  /// O(n), and for TextGrid, whose tiers may be in any order, O(n log n).
  /// - Throws: the place and the problem, if it is no transcript in this format.
  ///
  /// - Parameter pieceLimit: the greatest number of pieces separated by white space or commas.
  package func read(
    _ bytes: [UInt8], pieceLimit: Int = SourceText.pieceLimit
  ) throws(SpoolError) -> Transcript {
    try codec.read(
      SourceText(bytes, pieceLimit: pieceLimit, doing: "read the transcript as \(name)"))
  }

  /// Formats a transcript as UTF-8 with LF line ends, without empty segments. O(n).
  /// - Throws: if times are invalid, or content does not fit the format, such as text without times
  ///   in subtitles.
  package func write(
    _ transcript: Transcript, _ options: WritingOptions = WritingOptions()
  ) throws(SpoolError) -> String {
    try Self.check(transcript, for: name)
    let told = transcript.leavingOutEmpty
    return try codec.write(options.namesSpeakers ? told : told.inTurns.withoutSpeakers, options)
  }

  /// Recognises a file's format by its content and name: the content decides if it is unambiguous,
  /// such as `WEBVTT` in the first line. O(n).
  ///
  /// - Parameters:
  ///   - bytes: the whole file.
  ///   - fileName: its name, with or without the folder; nil if it has none.
  /// - Throws: if the file is too large, is no text, or matches no format.
  package static func recognised(
    in bytes: [UInt8], fileName: String? = nil
  ) throws(SpoolError) -> TranscriptFormat {
    let source = try SourceText(bytes, doing: "recognise the transcript")
    let named = fileName.map { name in all.filter { $0.isUsual(for: name) } } ?? []
    for (formats, likeness) in [
      (named, Likeness.certain), (all, .certain), (named, .possible), (named, .none),
      (all, .possible),
    ] {
      if let format = formats.first(where: { $0.codec.likeness(of: source) >= likeness }) {
        return format
      }
    }
    throw source.error(
      "neither its name nor what it says is that of a known format",
      advice: "name its format: \(all.map(\.name).joined(separator: ", "))")
  }

  private func isUsual(for fileName: String) -> Bool {
    nameEndings.contains { fileName.lowercased().hasSuffix($0) }
  }
}

extension TranscriptFormat: Hashable {
  package static func == (one: TranscriptFormat, other: TranscriptFormat) -> Bool {
    one.name == other.name
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// The precondition of all writers: times and confidences are valid numbers.
extension TranscriptFormat {
  /// Rejects times that are not finite, negative or too large, and confidences outside 0…1.
  /// O(words).
  private static func check(_ transcript: Transcript, for format: String) throws(SpoolError) {
    for (index, segment) in transcript.segments.enumerated() {
      let place = "segment \(index + 1)"
      try check(segment.start, place, format)
      try check(segment.end, place, format)
      for (number, word) in segment.words.enumerated() {
        try check(word.start, "\(place), word \(number + 1)", format)
        try check(word.end, "\(place), word \(number + 1)", format)
        guard let confidence = word.confidence else { continue }
        guard confidence >= 0, confidence <= 1 else {
          throw .writing(
            format, "\(place), word \(number + 1) has the confidence \(confidence): 0 to 1 are")
        }
      }
    }
  }

  private static func check(
    _ time: Double?, _ place: @autoclosure () -> String, _ format: String
  ) throws(SpoolError) {
    guard let time else { return }
    guard time >= 0, time <= ByteScanner.longestTime else {
      throw .writing(
        format, "\(place()) has the time \(time), which is none of a recording")
    }
  }
}

/// An Audacity label track: tab-separated `start`, `end` and label, in seconds. Each word is a
/// label, or each segment without word times.
enum AudacityLabels: TranscriptCodec {
  static let name = "audacity"
  static let summary = "labels for Audacity, one for each word"
  static let nameEndings = [".labels.txt", ".txt"]

  static func likeness(of source: SourceText) -> Likeness {
    var lines = source.lines
    guard let first = lines.nextWithText(), let label = try? label(in: first) else { return .none }
    // Whole milliseconds mean TSV.
    let hasPoint = first.fields[0].contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }
    return hasPoint || label.end - label.start < 30 ? .certain : .possible
  }

  static func read(_ source: SourceText) throws(SpoolError) -> Transcript {
    var lines = source.lines
    var segments: [Segment] = []
    while let line = lines.nextWithText() {
      // The frequencies of a spectral label.
      if line.bytes.first == UInt8(ascii: "\\") { continue }
      let (start, end, text) = try label(in: line)
      let times = Times.ordered(start, end)
      var segment = Segment(text: text, start: times.start, end: times.end)
      if segment.words.count == 1 {
        segment.words[0].start = times.start
        segment.words[0].end = times.end
      }
      segments.append(segment)
    }
    return Transcript(segments: segments)
  }

  private static func label(
    in line: SourceLine
  ) throws(SpoolError) -> (start: Double, end: Double, text: String) {
    let fields = line.fields
    var times: [Double] = []
    for field in fields.prefix(2) {
      var scanner = ByteScanner(field)
      scanner.skipSpace()
      guard let time = scanner.decimal() else {
        throw line.error(at: field.startIndex, expected: "seconds of at least 0")
      }
      scanner.skipSpace()
      guard scanner.isAtEnd else { throw line.error(at: scanner.position, expected: "a tab") }
      times.append(time)
    }
    guard fields.count >= 2 else {
      throw line.error(at: line.bytes.endIndex, expected: "a tab and the label's end")
    }
    let text = fields.dropFirst(2).map { String(decoding: $0, as: UTF8.self) }
    return (times[0], times[1], WrittenWords.onOneLine(text.joined(separator: " ")))
  }

  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    var text = ""
    func add(_ start: Double, _ end: Double, _ label: String) {
      text += ClockText.seconds(start, decimals: 6) + "\t" + ClockText.seconds(end, decimals: 6)
      text += "\t\(WrittenWords.onOneLine(label))\n"
    }
    if options.hasWordTimes {
      for (word, start, end, _) in try transcript.timedWords(for: name) {
        add(start, end, word.text)
      }
    } else {
      for timed in try transcript.timedSegments(for: name) {
        add(timed.start, timed.end, timed.segment.text)
      }
    }
    return text
  }
}

/// SubRip subtitles: a number, `00:00:01,000 --> 00:00:02,500`, lines of text, an empty line.
///
/// The speaker precedes the text in WhisperX's form, `[Name]: `. Font and position tags, `<i>`,
/// `{\an8}`, are dropped, and text that looks like one is protected by a ``WordJoiner``; words have
/// no times.
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

  static func read(_ source: SourceText) throws(SpoolError) -> Transcript {
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

  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    var text = ""
    for (index, timed) in try transcript.inTurns.timedSegments(for: name).enumerated() {
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
extension SubRip {
  private static let tags: Set<String> = ["i", "b", "u", "font"]

  /// Decodes a line without tags and codes. O(n).
  static func read(_ line: String) -> String {
    var text = withoutTags(BraceCodes.removed(from: line))
    text = WordJoiner.unguarded(text, at: "<", if: beginsTag)
    text = WordJoiner.unguarded(text, at: "{") { $0.first == "\\" }
    return areTimes(text) ? WordJoiner.unguarded(text, at: "-") { $0.first == ">" } : text
  }

  /// Encodes text line by line so that no part of it parses as a tag, a code or a timing line.
  /// O(n).
  static func written(_ text: String) -> String {
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

/// WhisperX's JSON: words have a `score`, and are repeated in `word_segments`.
enum WhisperXJSON: TranscriptCodec {
  static let name = "whisperx"
  static let summary = "JSON as WhisperX writes it"
  static let nameEndings = [".whisperx.json"]

  static func likeness(of source: SourceText) -> Likeness {
    guard source.contains("\"word_segments\"") else { return .none }
    return WhisperJSON.likeness(of: source) == .none ? .none : .certain
  }

  static func read(_ source: SourceText) throws(SpoolError) -> Transcript {
    try WhisperJSON.transcript(JSONNode(source))
  }

  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    var words: [JSONValue] = []
    let segments = transcript.segments.map { segment in
      let own = segment.words.map { value(of: $0, in: segment) }
      words += own
      return JSONValue.object(leavingOut: [
        "start": segment.knownStart.map(JSONValue.decimal),
        "end": segment.knownEnd.map(JSONValue.decimal), "text": .text(segment.text),
        "speaker": segment.speaker.map(JSONValue.text),
        "words": options.hasWordTimes ? .list(own) : nil,
      ])
    }
    return JSONLayout.text([
      "segments": .list(segments),
      "word_segments": options.hasWordTimes ? .list(words) : nil,
      "language": transcript.language.map(JSONValue.text),
    ])
  }

  private static func value(of word: TimedWord, in segment: Segment) -> JSONValue {
    .object(leavingOut: [
      "word": .text(word.text), "start": word.start.map(JSONValue.decimal),
      "end": word.end.map(JSONValue.decimal), "score": word.confidence.map(JSONValue.decimal),
      "speaker": (word.speaker ?? segment.speaker).map(JSONValue.text),
      "flags": word.flags.json,
    ])
  }
}

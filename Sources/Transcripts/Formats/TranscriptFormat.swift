import Platform

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
  package func read(
    _ bytes: [UInt8], _ options: ReadingOptions = ReadingOptions()
  ) throws(TranscriptError) -> Transcript {
    do {
      return try codec.read(SourceText(bytes, limits: options.limits), options)
    } catch {
      throw error.naming(name)
    }
  }

  /// Formats a transcript as UTF-8 with LF line ends, without empty segments. O(n).
  /// - Throws: if times are invalid, or content does not fit the format, such as text without times
  ///   in subtitles.
  package func write(
    _ transcript: Transcript, _ options: WritingOptions = WritingOptions()
  ) throws(TranscriptError) -> String {
    do {
      try TimeCheck.check(transcript)
      let told = transcript.leavingOutEmpty
      return try codec.write(options.namesSpeakers ? told : told.inTurns.withoutSpeakers, options)
    } catch {
      throw error.naming(name)
    }
  }

  /// Recognises a file's format by its content and name: the content decides if it is unambiguous,
  /// such as `WEBVTT` in the first line. O(n).
  ///
  /// - Parameters:
  ///   - bytes: the whole file.
  ///   - fileName: its name, with or without the folder; nil if it has none.
  ///   - limits: the size limits.
  /// - Throws: if the file is too large, is no text, or matches no format.
  package static func recognised(
    in bytes: [UInt8], fileName: String? = nil, limits: ReadingLimits = ReadingLimits()
  ) throws(TranscriptError) -> TranscriptFormat {
    let source: SourceText
    do {
      source = try SourceText(bytes, limits: limits)
    } catch {
      throw TranscriptError(.recognising, at: error.place, error.reason, advice: error.advice)
    }
    let named = fileName.map { name in all.filter { $0.isUsual(for: name) } } ?? []
    for (formats, likeness) in [
      (named, Likeness.certain), (all, .certain), (named, .possible), (named, .none),
      (all, .possible),
    ] {
      if let format = formats.first(where: { $0.codec.likeness(of: source) >= likeness }) {
        return format
      }
    }
    throw TranscriptError(
      .recognising, "neither its name nor what it says is that of a known format",
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
enum TimeCheck {
  /// Rejects times that are not finite, negative or too large, and confidences outside 0…1.
  /// O(words).
  static func check(_ transcript: Transcript) throws(TranscriptError) {
    for (index, segment) in transcript.segments.enumerated() {
      let place = "segment \(index + 1)"
      try check(segment.start, place)
      try check(segment.end, place)
      for (number, word) in segment.words.enumerated() {
        try check(word.start, "\(place), word \(number + 1)")
        try check(word.end, "\(place), word \(number + 1)")
        guard let confidence = word.confidence else { continue }
        guard confidence >= 0, confidence <= 1 else {
          throw TranscriptError(
            .writing, "\(place), word \(number + 1) has the confidence \(confidence): 0 to 1 are")
        }
      }
    }
  }

  private static func check(_ time: Double?, _ place: @autoclosure () -> String)
    throws(TranscriptError)
  {
    guard let time else { return }
    guard time >= 0, time <= ByteScanner.longestTime else {
      throw TranscriptError(
        .writing, "\(place()) has the time \(time), which is none of a recording")
    }
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

  static func read(
    _ source: SourceText, _ options: ReadingOptions
  ) throws(TranscriptError) -> Transcript {
    try WhisperReading.transcript(JSONNode(source))
  }

  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(TranscriptError) -> String {
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

/// Markdown: a paragraph for each segment, with the speaker in bold before it, `**Name:** text`.
///
/// Reading takes the words of headings, lists, quotations and links, without markup, front matter,
/// code blocks, rules and comments.
enum Markdown: TranscriptCodec {
  static let name = "markdown"
  static let summary = "Markdown, a paragraph for each segment"
  static let nameEndings = [".md", ".markdown"]

  static func likeness(of source: SourceText) -> Likeness {
    var lines = source.lines
    guard let first = lines.nextWithText() else { return .none }
    return first.bytes.starts(with: "# ".utf8) || first.bytes.starts(with: "**".utf8)
      ? .possible : .none
  }

  static func read(
    _ source: SourceText, _ options: ReadingOptions
  ) throws(TranscriptError) -> Transcript {
    var transcript = Transcript()
    for paragraph in MarkdownBlocks.paragraphs(of: source) {
      var (speaker, rest) = MarkdownText.speaker(of: paragraph)
      // A bold line with a colon and no text after it is text.
      if rest.isEmpty { (speaker, rest) = (nil, paragraph) }
      let text = WrittenWords.tidied(MarkdownText.plain(rest))
      guard !text.isEmpty else { continue }
      transcript.segments.append(Segment(text: text, speaker: speaker))
    }
    return transcript
  }

  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(TranscriptError) -> String {
    let paragraphs = transcript.inTurns.segments.compactMap { segment -> String? in
      let text = WrittenWords.lines(of: segment.text).map(MarkdownText.escaped)
        .joined(separator: "\n")
      guard let speaker = segment.speaker.map(WrittenWords.onOneLine), !speaker.isEmpty else {
        return text.isEmpty ? nil : text
      }
      return "**\(MarkdownText.escaped(speaker)):**" + (text.isEmpty ? "" : " " + text)
    }
    return paragraphs.isEmpty ? "" : paragraphs.joined(separator: "\n\n") + "\n"
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

  static func read(
    _ source: SourceText, _ options: ReadingOptions
  ) throws(TranscriptError) -> Transcript {
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
  ) throws(TranscriptError) -> (start: Double, end: Double, text: String) {
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
  ) throws(TranscriptError) -> String {
    var text = ""
    func add(_ start: Double, _ end: Double, _ label: String) {
      text += ClockText.seconds(start, decimals: 6) + "\t" + ClockText.seconds(end, decimals: 6)
      text += "\t\(WrittenWords.onOneLine(label))\n"
    }
    if options.hasWordTimes {
      for (word, start, end, _) in try TimedWords.all(of: transcript) { add(start, end, word.text) }
    } else {
      for timed in try TimedSegment.all(of: transcript) {
        add(timed.start, timed.end, timed.segment.text)
      }
    }
    return text
  }
}

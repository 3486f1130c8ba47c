package import Platform

/// A format for reading and writing transcripts.
///
/// To add one, describe it in a file of its own as a static member, and name it in ``all``.
package struct TranscriptFormat: Sendable {
  /// Its name in pipelines and on the command line: `srt`.
  package let name: String
  /// What it is, in a few words.
  package let summary: String
  /// Its file name endings with the dot and in lower case; the first is used for writing.
  package let nameEndings: [String]
  /// How likely a text is in this format. At most O(n).
  let likeness: @Sendable (SourceText) -> Likeness
  /// Parses a text.
  let parse: @Sendable (SourceText) throws(SpoolError) -> Transcript
  /// Formats a transcript with valid times.
  let text: @Sendable (Transcript, WritingOptions) throws(SpoolError) -> String

  /// All formats. Where several match a file, the first one counts.
  package static let all: [TranscriptFormat] = [
    json, whisper, whisperX, subRip, webVTT, textGrid, ctm, audacity, lrc, tsv, markdown, plainText,
  ]

  /// The formats that a file tells itself, whatever its name: plain text may be anything.
  package static let recognisable = all.filter { ![markdown, plainText].contains($0) }
}

extension TranscriptFormat {
  /// Nil for an unknown name.
  package init?(named name: String) {
    guard let format = Self.all.first(where: { $0.name == name }) else { return nil }
    self = format
  }

  /// The file name ending with the dot.
  package var fileEnding: String { nameEndings.first ?? ".\(name)" }

  /// Whether it is shown on a screen during playback.
  package var isSubtitles: Bool { ["srt", "vtt"].contains(name) }

  /// Whether its lines begin with the names of speakers.
  package var labelsSpeakers: Bool { name == "srt" }

  /// Whether it cannot hold text without times.
  package var needsTimes: Bool {
    ["srt", "vtt", "textgrid", "ctm", "audacity", "lrc", "tsv"].contains(name)
  }

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
    try parse(
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
    return try text(options.namesSpeakers ? told : told.inTurns.withoutSpeakers, options)
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
      if let format = formats.first(where: { $0.likeness(source) >= likeness }) { return format }
    }
    throw source.error(
      "neither its name nor what it says is that of a known format",
      advice: "name its format: \(all.map(\.name).joined(separator: ", "))")
  }

  /// Whether files in this format have names like this one.
  package func isUsual(for fileName: String) -> Bool {
    nameEndings.contains { fileName.lowercased().hasSuffix($0) }
  }
}

extension Transcript {
  /// Reads what a stage has given: Spool's own JSON, or a recognisable format that a plugin's program
  /// writes. O(n).
  /// - Throws: if it is in no such format, or not as its format wants it.
  package init(ofStage bytes: [UInt8]) throws(SpoolError) {
    self = try TranscriptFormat.recognised(in: bytes, fileName: "transcript.json").read(bytes)
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

/// How likely a text is in a format.
enum Likeness: Int, Comparable {
  case none
  case possible
  /// No other format begins like this.
  case certain

  static func < (one: Likeness, other: Likeness) -> Bool { one.rawValue < other.rawValue }
}

package struct WritingOptions: Hashable, Sendable {
  /// Whether to write word times if the format supports them; otherwise only segments have times.
  package var hasWordTimes: Bool
  /// Whether to write speakers; some formats can only put them into the text.
  package var namesSpeakers: Bool

  package init(hasWordTimes: Bool = true, namesSpeakers: Bool = true) {
    self.hasWordTimes = hasWordTimes
    self.namesSpeakers = namesSpeakers
  }
}

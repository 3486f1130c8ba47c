/// A transcript format.
///
/// To add a format, write a conforming type and add one line to `TranscriptFormat.all`.
protocol TranscriptCodec: SendableMetatype {
  /// Its name in pipelines and on the command line.
  static var name: String { get }
  /// What it is, in a few words.
  static var summary: String { get }
  /// Its file name endings in lower case; the first is used for writing.
  static var nameEndings: [String] { get }

  /// How likely a text is in this format. At most O(n).
  static func likeness(of source: SourceText) -> Likeness

  /// Parses a text.
  static func read(
    _ source: SourceText, _ options: ReadingOptions
  ) throws(TranscriptError) -> Transcript

  /// Formats a transcript with valid times.
  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(TranscriptError) -> String
}

/// How likely a text is in a format.
enum Likeness: Int, Comparable {
  case none
  case possible
  /// No other format begins like this.
  case certain

  static func < (one: Likeness, other: Likeness) -> Bool { one.rawValue < other.rawValue }
}

/// How a transcript is read.
package struct ReadingOptions: Hashable, Sendable {
  package var limits: ReadingLimits
  /// Whether `Name:` at the start of a plain-text paragraph names the speaker; otherwise it is
  /// text.
  package var findsSpeakers: Bool

  package init(limits: ReadingLimits = ReadingLimits(), findsSpeakers: Bool = true) {
    self.limits = limits
    self.findsSpeakers = findsSpeakers
  }
}

/// Limits for untrusted files.
package struct ReadingLimits: Hashable, Sendable {
  /// The greatest file size in bytes.
  package var byteCount: Int
  /// The greatest number of pieces separated by white space or commas, which determine the memory
  /// use.
  package var pieceCount: Int

  /// The defaults allow for some hundred hours.
  package init(byteCount: Int = 64 << 20, pieceCount: Int = 8_000_000) {
    self.byteCount = byteCount
    self.pieceCount = pieceCount
  }
}

package struct WritingOptions: Hashable, Sendable {
  /// Whether to write word times if the format supports them; otherwise only segments have times.
  package var hasWordTimes: Bool
  /// Whether to write speakers; some formats can only put them into the text.
  package var namesSpeakers: Bool
  /// The recording's name, for formats that repeat it per line; white space becomes `_`.
  package var recording: String

  package init(
    hasWordTimes: Bool = true, namesSpeakers: Bool = true, recording: String = "recording"
  ) {
    self.hasWordTimes = hasWordTimes
    self.namesSpeakers = namesSpeakers
    self.recording = recording
  }
}

import Platform

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
  static func read(_ source: SourceText) throws(SpoolError) -> Transcript

  /// Formats a transcript with valid times.
  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String
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

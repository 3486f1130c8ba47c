/// One way to write a transcript down: the only place that knows it.
///
/// To add a format, write a type that does this, and add one line to `TranscriptFormat.all`.
protocol TranscriptCodec: SendableMetatype {
  /// Its name, as pipelines and the command line have it.
  static var name: String { get }
  /// What it is, in a few words.
  static var summary: String { get }
  /// How names of its files end, in lower case; the first is what it is written as.
  static var nameEndings: [String] { get }

  /// How much a text looks like it. O(n) at most.
  static func likeness(of source: SourceText) -> Likeness

  /// The transcript that a text holds.
  static func read(
    _ source: SourceText, _ options: ReadingOptions
  ) throws(TranscriptError) -> Transcript

  /// The text of a transcript, whose times were checked.
  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(TranscriptError) -> String
}

/// How much a text looks like a format.
enum Likeness: Int, Comparable {
  /// It is something else.
  case none
  /// It may be.
  case possible
  /// Nothing else begins like this.
  case certain

  static func < (one: Likeness, other: Likeness) -> Bool { one.rawValue < other.rawValue }
}

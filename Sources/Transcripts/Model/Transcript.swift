/// What is said in a recording, with the times of its words as far as they are known.
///
/// It is a list of segments, as most formats have it: a paragraph of a text, a subtitle, what a
/// recogniser gave at once. Nothing of the text is lost: the segments hold it as it was written,
/// and each word stands in it, in order.
public struct Transcript: Hashable, Sendable {
  /// The language as BCP 47 names it: `en`, `en-GB`; nil where nobody said.
  public var language: String?
  /// Whether nothing will be added or changed: false for a draft that is read along.
  public var isFinal: Bool
  /// What is said, in order.
  public var segments: [Segment]

  /// Collects what is said.
  public init(language: String? = nil, isFinal: Bool = true, segments: [Segment] = []) {
    self.language = language
    self.isFinal = isFinal
    self.segments = segments
  }

  /// Every word in order.
  ///
  /// Complexity: O(*n*) in the number of words.
  public var words: [TimedWord] { segments.flatMap(\.words) }

  /// The text as it was written; segments are parted by an empty line.
  public var text: String { segments.map(\.text).joined(separator: "\n\n") }
}

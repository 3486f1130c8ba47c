/// A word of a text with its place in a recording.
public struct AlignedWord: Hashable, Sendable, Codable {
  /// When it begins, in seconds.
  public var start: Double
  /// When it ends, in seconds.
  public var end: Double
  /// How sure its place is: 0 to 1.
  public var confidence: Double
  /// Whether it was heard there; where not, its place was made up from its neighbours'.
  public var isHeard: Bool
}

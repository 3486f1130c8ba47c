public import AudioModel

/// A place that somebody marked in a recording: the beginning of a chapter, or a cue point.
public struct Marker: Hashable, Sendable {
  /// Where it is, from the beginning of the sound.
  public let time: Seconds
  /// What it is called; nil where it has no name.
  public let title: String?

  /// Describes a marker.
  public init(time: Seconds, title: String? = nil) {
    self.time = time
    self.title = title
  }
}

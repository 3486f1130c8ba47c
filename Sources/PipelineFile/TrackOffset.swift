internal import PipelineModel

/// Where a track begins in a mix, as people write it.
public enum TrackOffset: Hashable, Sendable {
  /// So many frames of the mix after its beginning; negative where the track's own beginning is
  /// left out.
  case frames(Int)
  /// So many seconds after it; negative likewise.
  case seconds(Double)
  /// Where the recording's own time stamp puts it.
  case timestamp

  /// What can be written, for messages.
  public static let allowed =
    "a time (1.5 s, -23 ms), a number of samples (22050 samples), or timestamp; at most 24 h"

  /// The farthest offset, in seconds.
  private static let limit = 86_400.0

  /// Reads `1.5 s`, a bare `1.5` (seconds), `-1024 samples` or `timestamp`; nil for anything else,
  /// and for more than a day.
  public init?(_ text: String) {
    if text == "timestamp" {
      self = .timestamp
      return
    }
    let words = text.split(separator: " ")
    if words.count == 2, words[1] == "samples" || words[1] == "sample" {
      guard let count = Int(words[0]), abs(Double(count)) <= Self.limit * 768_000 else {
        return nil
      }
      self = .frames(count)
      return
    }
    guard let seconds = try? Unit.seconds.parse(text), abs(seconds) <= Self.limit else {
      return nil
    }
    self = .seconds(seconds)
  }
}

public import Sidecars

/// What a recording's container says about it.
public struct ContainerFacts: Hashable, Sendable {
  /// When it was recorded.
  public let createdAt: Timestamp?
  /// What it is called.
  public let title: String?
  /// The device or program that recorded it.
  public let recorder: String?
  /// How long it is, in milliseconds.
  public let milliseconds: Int?

  /// Reads the tags of a container, whose names are in small letters, as libavformat gives them.
  ///
  /// - Parameter duration: the sound's length in seconds, if it is known.
  public init(tags: [String: String], duration: Double? = nil) {
    createdAt =
      Self.timeTags.lazy.compactMap { tags[$0] }.compactMap(Self.time).first
    title = tags["title"].flatMap { PlainText($0, limit: 1000)?.text }
    recorder =
      Self.recorderTags.lazy.compactMap { tags[$0] }
      .compactMap { PlainText($0, limit: 200)?.text }.first
    milliseconds = duration.flatMap { seconds in
      seconds.isFinite && seconds >= 0 && seconds < 1e9 ? Int((seconds * 1000).rounded()) : nil
    }
  }

  /// The tags for a time, the most exact first.
  private static let timeTags = [
    "com.apple.quicktime.creationdate", "creation_time", "date_recorded", "origination_date",
    "date",
  ]
  /// The tags for what recorded it, devices before programs.
  private static let recorderTags = [
    "com.apple.quicktime.model", "com.android.model", "model", "originator", "recorder",
    "com.apple.quicktime.software", "software", "encoder",
  ]

  /// A container that was never told the time has that of its own first day.
  private static func time(_ text: String) -> Timestamp? {
    guard let time = Timestamp(iso8601: text), time.localSeconds > 0 else { return nil }
    return time
  }
}

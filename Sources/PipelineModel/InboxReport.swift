/// How a watched inbox stands beside its notes: the files in it that are no notes, or not yet. A
/// watch takes it down now and then, for whoever asks.
public struct InboxReport: Hashable, Sendable, Codable {
  /// A file that is no note.
  public struct File: Hashable, Sendable, Codable {
    /// Its path in the inbox, in a form that can be shown.
    public let path: String
    /// Why it is none; nil where it is simply no recording.
    public let reason: String?

    /// Describes a file.
    public init(path: String, reason: String?) {
      self.path = path
      self.reason = reason
    }
  }

  /// Files of one kind: all are counted, and the first by name are named.
  public struct Group: Hashable, Sendable, Codable {
    /// How many there are.
    public let count: Int
    /// Some of them, in the order of their paths.
    public let files: [File]

    /// Describes a group.
    public init(count: Int, files: [File]) {
      self.count = count
      self.files = files
    }
  }

  /// Files that are left alone because of their names, and have been for long.
  public struct Overlooked: Hashable, Sendable, Codable {
    /// Since when the oldest has been as it is, in seconds since 1970.
    public let since: Double
    /// How many there are, and the oldest of them.
    public let group: Group

    /// Describes such files.
    public init(since: Double, group: Group) {
      self.since = since
      self.group = group
    }
  }

  /// Why nothing of an inbox is processed at present.
  public struct Pause: Hashable, Sendable, Codable {
    /// Since when, in seconds since 1970.
    public let since: Double
    /// What is wrong, as one sentence.
    public let reason: String
    /// What the user can do.
    public let advice: String

    /// Describes a pause.
    public init(since: Double, reason: String, advice: String) {
      self.since = since
      self.reason = reason
      self.advice = advice
    }
  }

  /// What the claim of a watch to an inbox is called in the store: by this, whoever asks finds it.
  public static func claimSummary(ofInbox path: String) -> String { claimMark + path }

  /// What such a summary begins with; the inbox's absolute path follows.
  public static let claimMark = "watch "

  /// What may become a note, or part of one, and has not.
  public let waiting: Group
  /// What is left where it is although it looks as if it were to be taken in.
  public let refused: Group
  /// What is no recording, and nobody's business here.
  public let ignored: Group
  /// What is left alone because its name is a temporary or a hidden one, and has been for long; nil
  /// where nothing is.
  public let overlooked: Overlooked?
  /// Why nothing of it is processed; nil where it goes on.
  public let pause: Pause?

  /// Describes an inbox.
  public init(
    waiting: Group, refused: Group, ignored: Group, overlooked: Overlooked? = nil,
    pause: Pause? = nil
  ) {
    self.overlooked = overlooked
    self.pause = pause
    self.waiting = waiting
    self.refused = refused
    self.ignored = ignored
  }
}

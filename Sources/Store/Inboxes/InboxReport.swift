/// The state of a watched inbox beyond its recordings: files that are no recordings, or not yet.
/// Updated periodically by the watch.
package struct InboxReport: Hashable, Sendable, Codable {
  /// A file that is no recording.
  package struct File: Hashable, Sendable, Codable {
    /// Path in the inbox, printable.
    package let path: String
    /// The same, in the lossless form of ``RecordingFile/path``; nil in old reports.
    package let exactPath: String?
    /// Why; nil if it is simply no recording.
    package let reason: String?

    package init(path: String, exactPath: String? = nil, reason: String?) {
      self.path = path
      self.exactPath = exactPath
      self.reason = reason
    }
  }

  /// Files of one kind: all counted, the first by name listed.
  package struct Group: Hashable, Sendable, Codable {
    package let count: Int
    /// Some of them, by path.
    package let files: [File]

    package init(count: Int, files: [File]) {
      self.count = count
      self.files = files
    }
  }

  /// Files ignored for their names, for a long time.
  package struct Overlooked: Hashable, Sendable, Codable {
    /// Age of the oldest, as seconds since 1970.
    package let since: Double
    /// Their number, and the oldest of them.
    package let group: Group

    package init(since: Double, group: Group) {
      self.since = since
      self.group = group
    }
  }

  /// Why an inbox is paused.
  package struct Pause: Hashable, Sendable, Codable {
    /// Since when, in seconds since 1970.
    package let since: Double
    /// One sentence.
    package let reason: String
    package let advice: String

    package init(since: Double, reason: String, advice: String) {
      self.since = since
      self.reason = reason
      self.advice = advice
    }
  }

  /// The summary of a watch's claim on an inbox.
  package static func claimSummary(ofInbox path: String) -> String { claimMark + path }

  /// The prefix of such a summary; the inbox's absolute path follows.
  package static let claimMark = "watch "

  /// Possible recordings, or parts of one, that are not taken in yet.
  package let waiting: Group
  /// Left in place although they look like recordings.
  package let refused: Group
  /// Other files.
  package let ignored: Group
  /// Ignored for long because of temporary or hidden names; nil if there are none.
  package let overlooked: Overlooked?
  /// Why nothing is processed; nil if it runs.
  package let pause: Pause?
  /// What keeps acknowledgements and released files from their places, a sentence each; nil if nothing
  /// does.
  package let problems: [String]?
  /// Whether the watch was stopped and ended before its work had reached a safe point; nil if not.
  package var wasCutShort: Bool?

  package init(
    waiting: Group, refused: Group, ignored: Group, overlooked: Overlooked? = nil,
    pause: Pause? = nil, problems: [String]? = nil
  ) {
    self.problems = problems
    self.overlooked = overlooked
    self.pause = pause
    self.waiting = waiting
    self.refused = refused
    self.ignored = ignored
  }
}

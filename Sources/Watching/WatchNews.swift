public import JSONText

/// One thing that happened in a watch: a line of its log.
public struct WatchNews: Hashable, Sendable, Encodable {
  /// What kind of thing it is.
  public enum Event: String, Hashable, Sendable, Encodable {
    /// An inbox is watched from now on.
    case watching
    /// A recording is in the store.
    case received
    /// A recording has come again.
    case duplicate
    /// A recording claims the identity of another one.
    case conflict
    /// A recording that an earlier process began is gone on with.
    case resumed
    /// All that was required of a recording is done.
    case uploaded
    /// A recording will be tried again.
    case retrying
    /// A recording waits for somebody to ask.
    case failed
    /// A recording cannot be accepted.
    case quarantined
    /// A file has left the inbox as its owner wants it.
    case released
    /// A recording's sidecar came after it.
    case sidecar
    /// A recording's transcript came after it.
    case transcript
    /// A device's command was dealt with.
    case command
    /// A file ought to have settled by now.
    case unsettled
    /// Something in the inbox is left alone.
    case refused
    /// Something in the inbox is none of its business.
    case ignored
    /// The inbox cannot be reached.
    case lost
    /// Nothing is processed, because a folder for results cannot be used or no receipt can be signed.
    case paused
    /// The inbox, or the folder for results, can be reached again.
    case back
    /// Something went wrong that is no recording's fault.
    case trouble
    /// A receipt has got a time stamp.
    case stamped
    /// Something that a stage warns of.
    case warning
    /// New settings are in force.
    case reloaded
    /// The end has been asked for.
    case stopping
    /// The end.
    case stopped
  }

  /// When, in seconds since 1970.
  public let at: Double
  /// What kind of thing it is.
  public let event: Event
  /// The inbox, as an absolute path; nil where all are meant.
  public var inbox: String?
  /// The note's name in the store.
  public var note: String?
  /// The file, in a form that can be shown.
  public var file: String?
  /// What else there is to say, in a form that can be shown.
  public var text: String?
  /// The exports, as absolute paths.
  public var exports: [String]?
  /// What the steps of its run found out, by step; nil where they found nothing.
  public var findings: [String: JSONValue]?
  /// Seconds that the work took, or after which it will be tried again.
  public var seconds: Double?
  /// Where a released file is now: `accepted`, `quarantine`, `left`, `deleted` or `gone`.
  public var place: String?

  /// Describes what happened.
  public init(
    _ event: Event, at time: Double, inbox: String? = nil, note: String? = nil,
    file: String? = nil, text: String? = nil, exports: [String]? = nil,
    findings: [String: JSONValue]? = nil, seconds: Double? = nil, place: String? = nil
  ) {
    self.event = event
    at = time
    self.inbox = inbox
    self.note = note
    self.file = file
    self.text = text
    self.exports = exports
    self.findings = findings
    self.seconds = seconds
    self.place = place
  }
}

/// Takes note of what happens in a watch. Called from several threads.
public protocol WatchRecorder: Sendable {
  /// Takes note of one thing.
  func record(_ news: WatchNews)
}

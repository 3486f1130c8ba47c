/// A command from a device.
package struct RecordingCommand: Hashable, Sendable {
  package enum Request: Hashable, Sendable {
    case retry
    case cancel
    case rename(String)
    /// Replaces its tags.
    case tag([String])

    /// The name that devices use.
    package var name: String {
      switch self {
      case .retry: "retry"
      case .cancel: "cancel"
      case .rename: "rename"
      case .tag: "tag"
      }
    }

    /// The aspect that it sets: the latest command on each counts.
    package var subject: String {
      switch self {
      case .retry, .cancel: "processing"
      case .rename: "title"
      case .tag: "tags"
      }
    }

    package var change: RecordingChange {
      switch self {
      case .retry: .retry(reason: "asked for by a device")
      case .cancel: .cancel(reason: "cancelled by a device")
      case .rename(let title): .rename(title)
      case .tag(let tags): .tag(tags)
      }
    }
  }

  /// Its identity: a command is applied once, even if it arrives repeatedly.
  package let id: String
  /// The pipeline whose recordings it may change.
  package let pipeline: String
  /// The recording, by its device identity or key.
  package let recording: String
  package let request: Request
  /// When it was given, in seconds since 1970, by the device's clock.
  package let issuedAt: Double

  package init(id: String, pipeline: String, recording: String, request: Request, issuedAt: Double)
  {
    self.id = id
    self.pipeline = pipeline
    self.recording = recording
    self.request = request
    self.issuedAt = issuedAt
  }
}

/// The result of a command.
package struct RecordingCommandResult: Hashable, Sendable {
  package enum Status: String, Hashable, Sendable, Codable {
    case applied
    /// A later one on the same aspect was applied before.
    case superseded
    /// It is not allowed.
    case refused
    /// Its recording has not arrived yet; applied on arrival.
    case waiting
  }

  package let id: String
  package let status: Status
  /// Nil if the status says it.
  package let reason: String?
  /// Nil if unknown.
  package let recording: RecordingKey?
  /// Whether it was decided now rather than at an earlier arrival.
  package let isFresh: Bool
  /// When it was decided, in seconds since 1970; nil if unknown.
  package var decidedAt: Double?
  /// The request; nil for an invalid command.
  package var request: RecordingCommand.Request?
  /// Whether it was decided after waiting, and this was not reported yet.
  package var isDecidedLate = false
}

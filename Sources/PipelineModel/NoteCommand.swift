/// What a device asks for.
public struct NoteCommand: Hashable, Sendable {
  /// What may be asked for.
  public enum Request: Hashable, Sendable {
    /// Try it again.
    case retry
    /// Leave it alone.
    case cancel
    /// Call it so.
    case rename(String)
    /// Give it these tags in place of those that it has.
    case tag([String])

    /// The name that devices know it by.
    public var name: String {
      switch self {
      case .retry: "retry"
      case .cancel: "cancel"
      case .rename: "rename"
      case .tag: "tag"
      }
    }

    /// What a later one takes the place of: the last word of each counts.
    public var subject: String {
      switch self {
      case .retry, .cancel: "processing"
      case .rename: "title"
      case .tag: "tags"
      }
    }

    /// The change that it asks for.
    public var change: NoteChange {
      switch self {
      case .retry: .retry(reason: "asked for by a device")
      case .cancel: .cancel(reason: "cancelled by a device")
      case .rename(let title): .rename(title)
      case .tag(let tags): .tag(tags)
      }
    }
  }

  /// Its identity: a command is applied once, however often it comes.
  public let id: String
  /// The pipeline whose notes it may speak of.
  public let pipeline: String
  /// The note: the identity that its device gave it, or its name in the store.
  public let note: String
  /// What is asked for.
  public let request: Request
  /// When it was given, in seconds since 1970, by the device's clock.
  public let issuedAt: Double

  /// Describes a command.
  public init(id: String, pipeline: String, note: String, request: Request, issuedAt: Double) {
    self.id = id
    self.pipeline = pipeline
    self.note = note
    self.request = request
    self.issuedAt = issuedAt
  }
}

/// What came of a command.
public struct NoteCommandResult: Hashable, Sendable {
  /// How it ended.
  public enum Status: String, Hashable, Sendable, Codable {
    /// It was done.
    case applied
    /// A later one about the same was done before it came.
    case superseded
    /// It cannot be done.
    case refused
    /// Its note has not arrived yet; it will be done then.
    case waiting
  }

  /// The command's identity.
  public let id: String
  /// How it ended.
  public let status: Status
  /// Why; nil where that says itself.
  public let reason: String?
  /// The note; nil where it is not known.
  public let note: NoteKey?
  /// Whether it was done just now, and not when it came before.
  public let isFresh: Bool
  /// When that was decided, in seconds since 1970; nil where that is not known.
  public let decidedAt: Double?
  /// What was asked for; nil for what is no command.
  public let request: NoteCommand.Request?
  /// Whether it waited for its note first, and nobody has heard since that it does not any more.
  public let isDecidedLate: Bool

  /// Describes a result.
  public init(
    id: String, status: Status, reason: String?, note: NoteKey?, isFresh: Bool,
    decidedAt: Double? = nil, request: NoteCommand.Request? = nil, isDecidedLate: Bool = false
  ) {
    self.request = request
    self.isDecidedLate = isDecidedLate
    self.id = id
    self.status = status
    self.reason = reason
    self.note = note
    self.isFresh = isFresh
    self.decidedAt = decidedAt
  }
}

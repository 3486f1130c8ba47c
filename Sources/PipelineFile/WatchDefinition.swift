public import PipelineModel

/// What `spool watch --config` is to do: inboxes, and what becomes of what arrives in them.
public struct WatchDefinition: Hashable, Sendable {
  /// One inbox.
  public struct Inbox: Hashable, Sendable {
    /// The folder that recordings arrive in, as written.
    public var path: Located<String>
    /// The pipeline's file, as written.
    public var pipeline: Located<String>
    /// The folder for exports; nil where it goes without saying.
    public var out: Located<String>?
    /// The folder for acknowledgements; nil where it goes without saying.
    public var outbox: Located<String>?
    /// How exports are called, as written; nil where they are called as their recordings are.
    public var name: Located<String>?
    /// What becomes of a file that is done.
    public var keep: Located<Keep>?
    /// How long a file must rest, in seconds.
    public var settle: Double?
    /// What is expected of sidecars.
    public var sidecar: SidecarExpectation?
    /// What ends the name of a file that says that a recording is complete.
    public var doneMarker: String?
    /// After how many seconds without a change a file that is not whole is given up.
    public var patience: Double?
    /// After how many seconds a file with a temporary or hidden name, which is never taken, is told.
    public var overlooked: Double?
    /// How a recording that fails is tried again.
    public var retry = Retry()
    /// Overrides of the pipeline's variables, in the order written.
    public var overrides: [DocumentNode.Entry] = []

    /// Wants nothing but what goes without saying.
    public init(path: Located<String>, pipeline: Located<String>) {
      self.path = path
      self.pipeline = pipeline
    }
  }

  /// How a recording that fails is tried again; what is nil goes without saying.
  public struct Retry: Hashable, Sendable {
    /// How often it is tried in all.
    public var attempts: Int?
    /// The pause after the first attempt, in seconds; it doubles with each one.
    public var pause: Double?
    /// The longest pause, in seconds.
    public var longestPause: Double?
    /// By how much of itself a pause is lengthened or shortened at random, in percent.
    public var jitter: Int?

    /// Wants nothing but what goes without saying.
    public init() {}
  }

  /// What becomes of an inbox's file once everything is done.
  public enum Keep: String, Hashable, Sendable, CaseIterable {
    /// It is moved into the inbox's folder `accepted`.
    case move
    /// It is deleted.
    case delete
    /// It stays where it is.
    case leave
  }

  /// What an inbox expects of sidecars.
  public enum SidecarExpectation: Hashable, Sendable {
    /// One that is there is taken.
    case optional
    /// Nothing is taken without one.
    case required
    /// There are none.
    case ignored
    /// One is waited for so many seconds.
    case awaited(seconds: Double)

    /// What can be written.
    public static let allowed = "optional, required, ignored, or a time to wait, such as 30 s"

    /// Reads one; nil for anything else.
    public init?(_ text: String) {
      switch text {
      case "optional": self = .optional
      case "required": self = .required
      case "ignored": self = .ignored
      default:
        guard let seconds = try? Unit.seconds.parse(text), seconds > 0, seconds < 1e9 else {
          return nil
        }
        self = .awaited(seconds: seconds)
      }
    }
  }

  /// The store's folder, as written; nil where it goes without saying.
  public var store: Located<String>?
  /// How many recordings are worked on at once; nil where the machine decides.
  public var jobs: Int?
  /// How many seconds work under way may take to come to a clean point at the end; nil where that
  /// goes without saying.
  public var drain: Double?
  /// The inboxes, in the order written.
  public var inboxes: [Inbox] = []

  /// Asks for nothing.
  public init() {}
}

/// The file of `spool watch --config`: inboxes, and what is done with their recordings.
package struct WatchDefinition: Hashable, Sendable {
  package struct Inbox: Hashable, Sendable {
    /// As written.
    package var path: Located<String>
    /// The file, as written.
    package var pipeline: Located<String>
    /// The folder for exports; nil for the default.
    package var out: Located<String>?
    /// The folder for acknowledgements; nil for the default.
    package var outbox: Located<String>?
    /// The template of export names, as written; nil for the recordings' own.
    package var name: Located<String>?
    /// What is done with a finished file.
    package var keep: Located<Keep>?
    /// Whether a finished file may be deleted although no second place has the recording.
    package var isSingleCopy = false
    /// How long a file must stay unchanged, in seconds.
    package var settle: Double?
    package var sidecar: SidecarExpectation?
    /// The suffix of a recording's marker file.
    package var doneMarker: String?
    /// After how many seconds without a change an incomplete file is given up.
    package var patience: Double?
    /// After how many seconds a file that is ignored for a temporary or hidden name is reported.
    package var overlooked: Double?
    /// How a failed recording is retried.
    package var retry = Retry()
    /// Overrides of the pipeline's variables, in the order written.
    package var overrides: [DocumentNode.Entry] = []

    package init(path: Located<String>, pipeline: Located<String>) {
      self.path = path
      self.pipeline = pipeline
    }
  }

  /// How a failed recording is retried; nil for defaults.
  package struct Retry: Hashable, Sendable {
    /// The number of attempts.
    package var attempts: Int?
    /// The pause after the first attempt, in seconds; it doubles with each one.
    package var pause: Double?
    /// The longest pause, in seconds.
    package var longestPause: Double?
    /// By how many percent a pause is varied at random.
    package var jitter: Int?

    package init() {}
  }

  /// What is done with an inbox's file once it is finished.
  package enum Keep: String, Hashable, Sendable, CaseIterable {
    /// Moved into the inbox's folder `accepted`.
    case move
    case delete
    case leave
  }

  /// What an inbox expects of sidecars.
  package enum SidecarExpectation: Hashable, Sendable {
    /// Taken if it is there.
    case optional
    /// Required.
    case required
    case ignored
    /// Awaited for so many seconds.
    case awaited(seconds: Double)

    /// For messages.
    package static let allowed = "optional, required, ignored, or a time to wait, such as 30 s"

    /// Reads one; nil for anything else.
    package init?(_ text: String) {
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

  /// The store's folder, as written; nil for the default.
  package var store: Located<String>?
  /// How many recordings are processed at once; nil for the machine's default.
  package var jobs: Int?
  /// Seconds until jobs in progress must have stopped at the end; nil for the default.
  package var drain: Double?
  /// The inboxes, in the order written.
  package var inboxes: [Inbox] = []

  package init() {}
}

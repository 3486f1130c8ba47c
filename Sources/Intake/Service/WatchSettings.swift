internal import PipelineModel

/// The settings of a watch, at its start and at each reload.
package struct WatchSettings: Sendable {
  /// The inboxes, none of which lies in another. Those that share a pipeline or an outbox know each
  /// other: an acknowledgement goes to each of the pipeline's outboxes, and an outbox shows the
  /// recordings of all its pipelines.
  package var inboxes: [InboxSettings] { didSet { inboxes = Self.linked(inboxes) } }
  /// How many recordings are processed at once.
  package var jobs: Int
  /// Seconds until jobs in progress must have stopped at the end.
  package var drain: Double

  /// Well below the 90 seconds that systemd allows.
  package static let usualDrain = 30.0

  package init(inboxes: [InboxSettings], jobs: Int, drain: Double = usualDrain) {
    self.inboxes = Self.linked(inboxes)
    self.jobs = jobs
    self.drain = drain
  }

  private static func linked(_ inboxes: [InboxSettings]) -> [InboxSettings] {
    inboxes.map { own in
      var linked = own
      linked.otherOutboxes = unique(
        inboxes.filter { $0.pipelineName == own.pipelineName }.map(\.outbox), besides: own.outbox)
      linked.otherPipelines = unique(
        inboxes.filter { $0.outbox == own.outbox }.map(\.pipelineName), besides: own.pipelineName)
      return linked
    }
  }

  private static func unique(_ names: [String], besides own: String) -> [String] {
    Set(names).subtracting([own]).sorted()
  }
}

/// One inbox and what is done with its recordings. All folders exist; all paths are absolute and
/// free of links.
package struct InboxSettings: Sendable {
  package var path: String
  /// The pipeline that processes its recordings.
  package var pipeline: WatchedPipeline
  package var out: String
  /// The template of export names; nil for the recordings' own names.
  package var template: NameTemplate?
  package var outbox: String
  /// The outboxes of other inboxes with this pipeline, which get the same acknowledgements.
  var otherOutboxes: [String] = []
  /// The other pipelines whose recordings the outbox shows.
  var otherPipelines: [String] = []
  package var recordingRules: InboxRules
  /// When a file counts as complete.
  package var rules: StabilityRules
  /// Whether to accept its folders where they are, though a disk was mounted there at their last
  /// use and is not now.
  package var isAcceptingMounts = false
  /// Whether to take it over from another store that has served it.
  package var isAdopting = false

  package init(
    path: String, pipeline: WatchedPipeline, out: String, outbox: String,
    recordingRules: InboxRules,
    rules: StabilityRules
  ) {
    self.path = path
    self.pipeline = pipeline
    self.out = out
    self.outbox = outbox
    self.recordingRules = recordingRules
    self.rules = rules
  }

  /// The pipeline's name in the store.
  var pipelineName: String { pipeline.definition.name }

  func isSame(as other: InboxSettings) -> Bool {
    path == other.path && out == other.out && outbox == other.outbox
      && recordingRules == other.recordingRules
      && rules == other.rules && otherOutboxes == other.otherOutboxes
      && otherPipelines == other.otherPipelines && template == other.template
      && pipeline.isSame(as: other.pipeline)
  }
}

extension WatchSettings {
  /// A folder that Spool writes to: an absolute path without links, and its purpose: `the output
  /// folder`.
  package typealias Folder = (path: String, role: String)

  /// All placements that are not allowed, as sentences, each with the index of the inbox. An inbox
  /// must not contain a folder that Spool writes to: its exports would be processed again, without
  /// end. O(n²).
  /// - Parameters:
  ///   - inboxes: absolute paths without links.
  ///   - others: the folders that Spool writes to.
  package static func conflicts(
    inboxes: [String], others: [Folder]
  ) -> [(inbox: Int, message: String)] {
    var found: [(inbox: Int, message: String)] = []
    for (index, inbox) in inboxes.enumerated() {
      for earlier in inboxes[..<index] where overlap(inbox, earlier) {
        found.append(
          (
            index,
            inbox == earlier
              ? "the inbox \(inbox) is named twice"
              : "the inboxes \(earlier) and \(inbox) lie in one another"
          ))
      }
      let near = others.filter { overlap(inbox, $0.path) }.map { other in
        (
          other,
          message: isWithin(other.path, inbox)
            ? "\(other.role) \(other.path) lies in the inbox \(inbox)"
            : "the inbox \(inbox) lies in \(other.role) \(other.path)"
        )
      }
      var told: Set<String> = []
      for (_, message) in near.sorted(by: { $0.0 < $1.0 }) where told.insert(message).inserted {
        found.append((index, message))
      }
    }
    return found
  }

  private static func overlap(_ a: String, _ b: String) -> Bool { isWithin(a, b) || isWithin(b, a) }

  private static func isWithin(_ path: String, _ folder: String) -> Bool {
    path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
  }
}

public import Inbox
internal import PipelineModel
public import Sidecars

/// One inbox, and what becomes of what arrives in it. All folders exist, and all paths are absolute
/// and free of links.
public struct InboxSettings: Sendable {
  /// The folder that recordings arrive in.
  public var path: String
  /// What recordings go through.
  public var pipeline: WatchedPipeline
  /// The folder for exports.
  public var out: String
  /// How exports are called; nil where they are called as their recordings are.
  public var template: NameTemplate?
  /// The folder for acknowledgements.
  public var outbox: String
  /// The outboxes of other inboxes with this pipeline, in which its notes are acknowledged as well.
  var otherOutboxes: [String] = []
  /// The other pipelines whose notes the outbox shows.
  var otherPipelines: [String] = []
  /// How its recordings are kept.
  public var custody: CustodyRules
  /// When a file counts as whole.
  public var rules: SettlingRules
  /// Whether its folders count as where they belong, though a disk was mounted there when they were
  /// last used and is not now.
  public var isAcceptingMounts = false
  /// Whether it is taken over from another store that has served it.
  public var isAdopting = false

  /// Collects the settings.
  public init(
    path: String, pipeline: WatchedPipeline, out: String, outbox: String, custody: CustodyRules,
    rules: SettlingRules
  ) {
    self.path = path
    self.pipeline = pipeline
    self.out = out
    self.outbox = outbox
    self.custody = custody
    self.rules = rules
  }

  /// The name by which the store knows the pipeline's notes.
  var pipelineName: String { pipeline.definition.name }

  /// Whether both ask for the same.
  func isSame(as other: InboxSettings) -> Bool {
    path == other.path && out == other.out && outbox == other.outbox && custody == other.custody
      && rules == other.rules && otherOutboxes == other.otherOutboxes
      && otherPipelines == other.otherPipelines && template == other.template
      && pipeline.isSame(as: other.pipeline)
  }
}

public import Inbox

/// One inbox, and what becomes of what arrives in it. All folders exist, and all paths are absolute
/// and free of links.
public struct InboxSettings: Sendable {
  /// The folder that recordings arrive in.
  public var path: String
  /// What recordings go through.
  public var pipeline: WatchedPipeline
  /// The folder for exports.
  public var out: String
  /// The folder for acknowledgements; nil where nobody wants them.
  public var outbox: String?
  /// What becomes of a file that is done.
  public var keep: KeepPolicy
  /// When a file counts as whole.
  public var rules: SettlingRules

  /// Collects the settings.
  public init(
    path: String, pipeline: WatchedPipeline, out: String, outbox: String?, keep: KeepPolicy,
    rules: SettlingRules
  ) {
    self.path = path
    self.pipeline = pipeline
    self.out = out
    self.outbox = outbox
    self.keep = keep
    self.rules = rules
  }
}

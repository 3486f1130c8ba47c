/// One thing that a repair did, or would do.
public struct RepairAction: Hashable, Sendable, Codable {
  /// What is done: `delete the damaged file`.
  public let what: String
  /// To which file.
  public let path: String
  /// The artifact's digest, the checkpoint's key or the run's name; nil where there is none.
  public let subject: String?

  /// Describes one thing.
  public init(what: String, path: String, subject: String? = nil) {
    self.what = what
    self.path = path
    self.subject = subject
  }
}

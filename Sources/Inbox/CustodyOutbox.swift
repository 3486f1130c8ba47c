/// The folder that acknowledgements of an inbox leave by, and how it stands to those of others.
public struct CustodyOutbox: Hashable, Sendable {
  /// The folder.
  public let path: String
  /// The outboxes of other inboxes for the same pipeline: the ledger acknowledges a note once,
  /// whichever inbox it came by, and so in all of them.
  public let others: [String]
  /// The other pipelines that use the folder, whose notes its snapshot shows too.
  public let pipelines: [String]

  /// Describes an outbox, which is the inbox's alone unless others are named.
  public init(_ path: String, others: [String] = [], pipelines: [String] = []) {
    self.path = path
    self.others = others
    self.pipelines = pipelines
  }
}

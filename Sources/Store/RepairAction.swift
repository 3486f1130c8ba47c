/// One thing that a repair did, or would do.
public struct RepairAction: Hashable, Sendable, Codable {
  /// What was done: `deleted the damaged file`.
  public let what: String
  /// To which file.
  public let path: String
}

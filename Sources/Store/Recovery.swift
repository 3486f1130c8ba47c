/// How a store came by its database again after it was lost or damaged.
public struct Recovery: Hashable, Sendable, Codable {
  /// What was wrong with the database, in SQLite's own words where it has some.
  public let cause: String
  /// The backup that it was begun with, 1 for the newest; nil where there was no good one.
  public let slot: Int?
  /// How many checkpoints were taken from the records beside the database.
  public let checkpoints: Int
  /// How many runs were taken from the records beside the database.
  public let runs: Int
  /// How many notes of watched inboxes were taken from the ledger beside the database.
  public let notes: Int
  /// Where the damaged database is kept; nil where there was none.
  public let keptAside: String?

  /// The whole story in one line.
  public var line: String {
    let aside = keptAside.map { "; the damaged one is kept as \($0)" } ?? ""
    return "\(DatabaseLoss.line(cause)) and was made again from \(DatabaseLoss.source(slot)): "
      + "\(checkpoints) \(checkpoints == 1 ? "checkpoint" : "checkpoints") and "
      + "\(runs) \(runs == 1 ? "run" : "runs") from records"
      + (notes == 0 ? "" : ", \(notes) \(notes == 1 ? "note" : "notes") from the ledger") + aside
  }
}

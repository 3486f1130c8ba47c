internal import PipelineModel

/// A database to look at where nothing can be put right.
extension DatabaseSnapshot {
  /// A copy of a store's database, brought up to date; of the newest good backup where the database
  /// itself is damaged, and then with a line that says so.
  static func readable(
    _ layout: StoreLayout, _ slots: BackupSlots, _ complaint: inout String?
  ) throws(StoreError) -> Database {
    let fault: String
    do throws(StoreError) {
      var copy = try copy(of: layout.database)
      if let found = try self.fault(in: &copy, at: layout.database) {
        fault = found
      } else {
        try Schema.current.migrate(&copy, at: layout.database)
        return copy
      }
    } catch {
      if (try? FileStamp(at: layout.database)) == nil {
        fault = DatabaseLoss.gone
      } else {
        guard case .damaged(let reason) = DatabaseCondition(at: layout.database) else {
          throw error
        }
        fault = reason
      }
    }
    guard let slot = slots.newestGood else {
      throw StoreError(
        "read", path: layout.database, reason: DatabaseLoss.line(fault),
        advice: "where the store can be written, the next command makes it again from "
          + DatabaseLoss.source(nil))
    }
    var copy = try copy(of: slots.path(slot))
    try Schema.current.migrate(&copy, at: slots.path(slot))
    complaint =
      "\(DatabaseLoss.line(fault)) and cannot be made again here: "
      + "this is how things stood in backup \(slot)"
    return copy
  }

  /// What is wrong with a copy; throws if a newer Spool has written it.
  private static func fault(
    in copy: inout Database, at path: String
  ) throws(StoreError) -> String? {
    let standing = try? Schema.current.standing(of: &copy)
    if case .newer(let version)? = standing { throw Schema.current.newer(version, path) }
    if let fault = try copy.quickFault() { return fault }
    if case .damaged(let reason) = try Schema.current.standing(of: &copy) { return reason }
    return nil
  }
}

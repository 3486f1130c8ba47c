internal import PipelineModel

/// Looking a database through, with every index, when it is opened: after an end that was not clean,
/// and once a day. The quick look at every opening compares no index with its table.
extension DatabaseOpening {
  /// In nanoseconds.
  private static let lookInterval: Int64 = 24 * 3600 * 1_000_000_000
  /// A larger database is left to spool check: this much takes about 0.2 s.
  private static let lookByteCount: Int64 = 64 << 20

  /// Whether whoever had the database last did not close it: then its log has been left.
  func wasCutOff(_ lock: borrowing FolderLock) -> Bool {
    let log = (try? FileStamp(at: layout.database + "-wal"))?.byteCount ?? 0
    return log > 0 && lock.otherHolders.isEmpty
  }

  /// What a look at everything finds wrong; nil if nothing, or if no look is due.
  func thoroughFault(
    in database: inout Database, isSuspect: Bool
  ) throws(StoreError) -> String? {
    guard try Schema.hasFormat(&database) else { return nil }
    let last =
      try database.run("SELECT looked_through_at FROM format", to: "open").first?[0].integer ?? 0
    let isDue = !(0..<Self.lookInterval).contains(clock() - last)
    let byteCount = (try? FileStamp(at: layout.database))?.byteCount ?? 0
    guard isSuspect || isDue, byteCount <= Self.lookByteCount else { return nil }
    if let fault = try database.faults().first { return fault }
    if isDue { noteLook(at: &database) }
    return nil
  }

  /// Notes that all of the database was looked through just now. Where that cannot be done (a full disk,
  /// say), it is looked through again the next time.
  func noteLook(at database: inout Database) {
    try? database.transactionWithoutFlush(to: "open") { (database) throws(StoreError) in
      guard try Schema.hasFormat(&database) else { return }
      try database.run(
        "UPDATE format SET looked_through_at = ?", [.integer(clock())], to: "open")
    }
  }
}

import Glibc
import PipelineModel
import Platform

/// Opens a store's database, checks and migrates it; rebuilds it first if it is lost or damaged.
struct DatabaseOpening {
  let layout: StoreLayout
  let files: FileOperations
  let schema: Schema
  let log: ChangeLog
  let slots: BackupSlots
  let clock: @Sendable () -> Int64

  /// How long to wait for other holders of the store's lock, in milliseconds.
  var patience = 10_000

  private enum Attempt: ~Copyable {
    case opened(Database)
    case lost(String)
  }

  /// Opens the database. `lock` is the store folder's; it is shared on return. A database of an older
  /// format is migrated under the exclusive lock: an older Spool cannot write the new one.
  func open(
    _ lock: borrowing FolderLock, _ recovery: inout Recovery?
  ) throws(SpoolError) -> Database {
    let deadline = Clock.monotonic() + Int64(patience) * 1_000_000
    // Checked first: opening makes an empty file.
    let isGone = (try? FileStamp(at: layout.database)) == nil
    var isAlone = false
    while true {
      guard isAlone || lock.wait(patience: patience, { $0.tryShared() }) else {
        throw SpoolError(
          "open", layout.root, reason: "it is just being repaired by \(lock.holdersInWords)",
          advice: "wait until that has ended")
      }
      switch try attempt(isSuspect: wasCutOff(lock), isGone: isGone) {
      case .opened(var database):
        let version = try schema.version(of: &database, layout.database)
        let isOld = version > 0 && version < schema.steps.count
        if !isAlone, !isOld, version > 0, try Schema.isRecordedSealed(&database) == false {
          isAlone = lock.tryAlone()
        }
        if isAlone || !isOld {
          try update(&database, isAlone: isAlone)
          // Another process may take the lock at this moment.
          if !isAlone || lock.tryShared() { return database }
          isAlone = false
          continue
        }
        isAlone = lock.tryAlone()
        if !isAlone, Clock.monotonic() > deadline {
          throw SpoolError(
            "update", layout.database,
            reason: "an older Spool wrote it, and \(lock.holdersInWords) works in it",
            advice: "stop that, and start it again with this Spool")
        }
        if !isAlone { usleep(.random(in: 10_000...50_000)) }
      case .lost(let cause):
        // Checked again under the exclusive lock: another process may have rebuilt it meanwhile.
        if lock.tryAlone() {
          if case .lost(let cause) = try attempt(isSuspect: true, isGone: isGone) {
            recovery = try rebuild.run(because: cause)
          }
        } else if Clock.monotonic() > deadline {
          throw SpoolError(
            "open", layout.database,
            reason: "\(cause), and it cannot be made again while \(lock.holdersInWords) works here",
            advice: "stop that, and try again")
        } else {
          usleep(20_000)
        }
      }
    }
  }

  var rebuild: Rebuild {
    Rebuild(
      layout: layout, files: files, schema: schema, log: log, slots: slots, now: clock())
  }

  /// - Parameters:
  ///   - isSuspect: whether to run the full check.
  ///   - isGone: whether there was no file.
  private func attempt(isSuspect: Bool, isGone: Bool) throws(SpoolError) -> Attempt {
    var database: Database
    do {
      database = try Database(at: layout.database)
    } catch {
      if case .damaged(let cause) = DatabaseCondition(at: layout.database) { return .lost(cause) }
      throw error
    }
    // First, and as an error: a newer format is not damage.
    if case .newer(let version)? = try? schema.status(of: &database) {
      throw schema.newer(version, layout.database)
    }
    if let cause = try database.quickFault() { return .lost(cause) }
    switch try schema.status(of: &database) {
    case .damaged(let cause): return .lost(cause)
    case .blank where !rebuild.isUnborn:
      return .lost(isGone ? DatabaseLoss.gone : DatabaseLoss.empty)
    case .ours:
      if let cause = try thoroughFault(in: &database, isSuspect: isSuspect) { return .lost(cause) }
    case .blank, .newer: break
    }
    return .opened(database)
  }

  /// Migrates the database after a backup of it, and adds checksums to its pages.
  /// - Parameter isAlone: whether no other process has the store open.
  private func update(_ database: inout Database, isAlone: Bool) throws(SpoolError) {
    let version = try schema.version(of: &database, layout.database)
    // On a full disk it stays as it is, and the next opening tries again.
    defer { if isAlone || version == 0 { try? schema.seal(&database) } }
    if version == schema.steps.count { return }
    if version > 0 { try slots.addUnlessThere(database) }
    try schema.migrate(&database, at: layout.database)
    // A change of format is not in the log.
    if try ChangeLog.isThere(in: &database), try ChangeLog.state(in: &database).generation > 0 {
      _ = try log.catchUp(&database)
      try log.renew(in: &database)
    }
    // It is new, or was checked for its backup.
    noteLook(at: &database)
  }
}

/// The full check on opening: after an unclean end, and once a day. The quick check compares no
/// index with its table.
extension DatabaseOpening {
  /// In nanoseconds.
  private static let lookInterval: Int64 = 24 * 3600 * 1_000_000_000
  /// Largest database checked on opening (about 0.2 s); larger ones are left to an explicit check.
  private static let lookByteCount: Int64 = 64 << 20

  /// Whether the last process did not close the database: then its log exists.
  func wasCutOff(_ lock: borrowing FolderLock) -> Bool {
    let log = (try? FileStamp(at: layout.database + "-wal"))?.byteCount ?? 0
    return log > 0 && lock.otherHolders.isEmpty
  }

  /// The first fault of a full check; nil if there is none or no check is due.
  func thoroughFault(
    in database: inout Database, isSuspect: Bool
  ) throws(SpoolError) -> String? {
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

  /// Records the full check. If that fails (a full disk, say), it is repeated next time.
  func noteLook(at database: inout Database) {
    try? database.transactionWithoutFlush(to: "open") { (database) throws(SpoolError) in
      guard try Schema.hasFormat(&database) else { return }
      try database.run(
        "UPDATE format SET looked_through_at = ?", [.integer(clock())], to: "open")
    }
  }
}

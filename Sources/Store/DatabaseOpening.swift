import Glibc
internal import PipelineModel

/// How a store comes by its database: it is opened, looked at, brought up to date; if it is lost or
/// damaged, it is made again first.
struct DatabaseOpening {
  let layout: StoreLayout
  let files: FileOperations
  let schema: Schema
  let records: RecordFolder
  let slots: BackupSlots
  /// The time in nanoseconds since 1970.
  let clock: @Sendable () -> Int64

  /// How long to wait for others who hold the store, in milliseconds.
  private static let patience = 10_000

  private enum Attempt: ~Copyable {
    case opened(Database)
    case lost(String)
  }

  /// Opens the database. `lock` is the store folder's, and is shared on return.
  func open(
    _ lock: borrowing FolderLock, _ recovery: inout Recovery?
  ) throws(StoreError) -> Database {
    let deadline = Clock.monotonic() + Int64(Self.patience) * 1_000_000
    // Before it is opened, which makes an empty one.
    let isGone = (try? FileStamp(at: layout.database)) == nil
    while true {
      guard lock.wait(patience: Self.patience, { $0.tryShared() }) else {
        throw StoreError(
          "open", path: layout.root, reason: "it is just being repaired by \(lock.holdersInWords)",
          advice: "wait until that has ended")
      }
      switch try attempt(isSuspect: wasCutOff(lock), isGone: isGone) {
      case .opened(var database):
        try update(&database)
        return database
      case .lost(let cause):
        // Alone, one looks again: another process may have made it meanwhile.
        if lock.tryAlone() {
          if case .lost(let cause) = try attempt(isSuspect: true, isGone: isGone) {
            recovery = try rebuild.run(because: cause)
          }
        } else if Clock.monotonic() > deadline {
          throw StoreError(
            "open", path: layout.database,
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
      layout: layout, files: files, schema: schema, records: records, slots: slots, now: clock())
  }

  /// - Parameters:
  ///   - isSuspect: whether all of the database is to be looked through.
  ///   - isGone: whether there was none.
  private func attempt(isSuspect: Bool, isGone: Bool) throws(StoreError) -> Attempt {
    var database: Database
    do {
      database = try Database(at: layout.database)
    } catch {
      if case .damaged(let cause) = DatabaseCondition(at: layout.database) { return .lost(cause) }
      throw error
    }
    // Before all else, and with an error: what a newer Spool wrote is not damaged.
    if case .newer(let version)? = try? schema.standing(of: &database) {
      throw schema.newer(version, layout.database)
    }
    if let cause = try database.quickFault() { return .lost(cause) }
    switch try schema.standing(of: &database) {
    case .damaged(let cause): return .lost(cause)
    case .blank where !(records.isEmpty && slots.filled.isEmpty):
      return .lost(isGone ? DatabaseLoss.gone : DatabaseLoss.empty)
    case .ours:
      if let cause = try thoroughFault(in: &database, isSuspect: isSuspect) { return .lost(cause) }
    case .blank, .newer: break
    }
    return .opened(database)
  }

  /// Brings the database up to date; a good copy of it as it was is kept.
  private func update(_ database: inout Database) throws(StoreError) {
    let version = try schema.version(of: &database, layout.database)
    if version == schema.steps.count { return }
    if version > 0 { try slots.addUnlessThere(database) }
    try schema.migrate(&database, at: layout.database)
    // It is new, or was looked through for its backup.
    noteLook(at: &database)
  }
}

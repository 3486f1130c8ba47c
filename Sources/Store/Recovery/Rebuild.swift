import Glibc
internal import PipelineModel
internal import Platform

/// Rebuilds a lost database from a good backup, if any, and the change log beside it.
/// The caller holds the store exclusively.
struct Rebuild {
  let layout: StoreLayout
  let files: FileOperations
  let schema: Schema
  let log: ChangeLog
  let slots: BackupSlots
  let now: Int64

  /// Whether nothing tells what was done since the last backup.
  var isLogLost: Bool { log.isEmpty && !log.old.isThere }

  /// Whether nothing is there that a database could be made from.
  var hasNoSource: Bool { isLogLost && slots.filled.isEmpty }

  /// Whether the store was never in use: an empty database in it is a new one.
  var isUnborn: Bool {
    guard hasNoSource else { return false }
    let (files, strays) = ArtifactFile.all(in: layout)
    return files.isEmpty && strays.isEmpty
  }

  /// Rebuilds the database and puts it in place; the old one is kept aside.
  ///
  /// The old one is replaced in the last step; after an interruption the next opening repeats the
  /// rebuild.
  func run(because cause: String) throws(SpoolError) -> Recovery {
    let part = DatabaseFiles(path: layout.database + ".part", files: files)
    let isLogLost = isLogLost
    let (slot, found) = try makeFromNewest(part)
    // Before the new database is in place: no collection may come between.
    let unnamed = isLogLost || found.unreadByteCount > 0 ? try unnamed(by: part) : []
    try lost.list(unnamed, isAccepted: false)
    let aside = try replace(with: part.path, word: "damaged")
    return Recovery(
      cause: cause, slot: slot, checkpoints: found.checkpoints, runs: found.runs,
      recordings: found.recordings, unreadBytes: found.unreadByteCount, keptAside: aside,
      unrecordedFiles: unnamed.isEmpty ? nil : unnamed.count, isLogLost: isLogLost)
  }

  private var lost: LostRecords { LostRecords(layout: layout, files: files) }

  /// The artifacts that a database about to be put in place does not name.
  private func unnamed(by part: DatabaseFiles) throws(SpoolError) -> Set<Digest> {
    var database = try Database(at: part.path, for: .frozen)
    return try lost.unnamed(in: &database)
  }

  /// Starts from the newest backup that proves good in use; without any if none does.
  private func makeFromNewest(
    _ part: DatabaseFiles
  ) throws(SpoolError) -> (slot: Int?, found: CatchUp) {
    for slot in slots.filled where (try? slots.examine(slots.path(slot))) != nil {
      do throws(SpoolError) {
        return (slot, try make(part, from: slots.path(slot)))
      } catch {
        if error.isFullDisk { throw error }
      }
    }
    return (nil, try make(part, from: nil))
  }

  /// Replaces the database by a backup.
  /// - Parameter isForeign: whether it is of another store, so that its position in the change log
  ///   does not apply: the next opening takes in the whole log.
  /// - Returns: the old one's new path, and how many artifacts have lost their records for good.
  func restore(
    _ backup: String, isForeign: Bool = false
  ) throws(SpoolError) -> (keptAside: String?, unrecordedFiles: Int) {
    let part = DatabaseFiles(path: layout.database + ".part", files: files)
    try part.remove()
    try files.copyFile(from: backup, to: part.path)
    if isForeign {
      try settleIn(part)
    } else if (try? takePublications(into: part)) == nil {
      // The database that is replaced may be damaged.
      try part.remove()
      try files.copyFile(from: backup, to: part.path)
    }
    try slots.examine(part.path)
    // What came after the backup is known by the log alone.
    let isLogLost = isLogLost
    let unnamed = isForeign || isLogLost || !lost.isAccepted ? try unnamed(by: part) : []
    let left = lost.left(of: unnamed, isLogLost: isLogLost)
    if isForeign || isLogLost { try lost.list(unnamed, isAccepted: !isLogLost) }
    let aside = try replace(with: part.path, word: "replaced")
    if !lost.isAccepted { try lost.accept(allBut: left) }
    return (aside, left.count)
  }

  /// Fits another store's database to this one: it knows nothing of the change log, what is not here
  /// is computed again, and no run is under way.
  private func settleIn(_ part: DatabaseFiles) throws(SpoolError) {
    do throws(SpoolError) {
      var database = try Database(at: part.path)
      try schema.migrate(&database, at: part.path)
      try schema.seal(&database)
      try ChangeLog.record(ChangeLog.State(), in: &database)
      try database.transaction(to: "restore") { (database) throws(SpoolError) in
        try CheckpointTable.strikeMissing(in: layout, from: &database)
        try RunTable.cutOffAll(in: &database)
      }
      try database.run("PRAGMA wal_checkpoint(TRUNCATE)", to: "write")
      _ = consume database
    } catch {
      try? part.remove()
      throw error
    }
  }

  /// Takes the records of exports from the database that is replaced, where a file is still what its
  /// record says: the change log, which has them too, may be lost.
  private func takePublications(into part: DatabaseFiles) throws(SpoolError) {
    guard (try? FileStamp(at: layout.database)) != nil else { return }
    let table = "published"
    var replaced = try Database(at: layout.database, for: .reading)
    var database = try Database(at: part.path)
    let columns = try TableColumns(of: table, in: &replaced)
    guard try TableColumns(of: table, in: &database).names == columns.names else { return }
    var insertions = RowInsertions(into: table, keyOrder: columns.keyOrder)
    try columns.forEachPortion(in: &replaced) { rows in
      for row in rows {
        let values = Dictionary(zip(columns.names, row), uniquingKeysWith: { first, _ in first })
        if KnownFileTables.isCurrent(values) { insertions.append(row) }
      }
    }
    try database.transaction(to: "restore") { (database) throws(SpoolError) in
      try database.apply(insertions.bytes, to: "restore")
    }
    try database.run("PRAGMA wal_checkpoint(TRUNCATE)", to: "write")
  }

  private func replace(with part: String, word: String) throws(SpoolError) -> String? {
    let current = DatabaseFiles(path: layout.database, files: files)
    var aside: String?
    if DatabaseCondition(at: layout.database) == .blank {
      try current.remove()
    } else {
      aside = try current.moveAside(word, now: now)
    }
    try current.place(part)
    return aside
  }

  /// Writes a complete database.
  /// - Returns: what came from the change log, or from old records.
  private func make(
    _ part: DatabaseFiles, from backup: String?
  ) throws(SpoolError) -> CatchUp {
    try part.remove()
    if let backup { try files.copyFile(from: backup, to: part.path) }
    do throws(SpoolError) {
      var database = try Database(at: part.path)
      try schema.migrate(&database, at: part.path)
      try schema.seal(&database)
      var counts = try log.catchUp(&database)
      database.recorder = log.recorder(knowing: schema)
      if log.old.isThere { counts.add(try log.old.takeIn(&database, log)) }
      try database.transaction(to: "rebuild") { (database) throws(SpoolError) in
        try CheckpointTable.strikeMissing(in: layout, from: &database)
        try RunTable.cutOffAll(in: &database)
      }
      try database.run("PRAGMA wal_checkpoint(TRUNCATE)", to: "write")
      _ = consume database
      let rest = (try? FileStamp(at: part.path + "-wal"))?.byteCount ?? 0
      guard rest == 0 else {
        throw SpoolError("write", part.path, reason: "not all of it reached the disk")
      }
      return counts
    } catch {
      try? part.remove()
      throw error
    }
  }
}

/// How a lost or damaged database was recovered.
package struct Recovery: Hashable, Sendable, Codable {
  /// The fault, in SQLite's own words if it has some.
  package let cause: String
  /// The backup used, 1 for the newest; nil if there was no good one.
  package let slot: Int?
  /// Checkpoints from the change log.
  package let checkpoints: Int
  /// Runs from the change log.
  package let runs: Int
  /// Recordings from the change log.
  package let recordings: Int
  /// Bytes of the change log that are damaged.
  package let unreadBytes: Int
  /// The path of the damaged database; nil if there was none.
  package let keptAside: String?
  /// How many artifacts have no record any more, because the change log was lost too; nil if none.
  package let unrecordedFiles: Int?
  /// Whether there was no change log.
  var isLogLost = false

  private enum CodingKeys: String, CodingKey {
    case cause, slot, checkpoints, runs, recordings = "notes", unreadBytes, keptAside
    case unrecordedFiles
  }

  package var line: String {
    let aside = keptAside.map { "; the damaged one is kept as \($0)" } ?? ""
    let unrecorded =
      unrecordedFiles.map { "; \($0) \($0 == 1 ? "file is" : "files are") kept without a record" }
      ?? ""
    if slot == nil, checkpoints + runs + recordings == 0, unrecordedFiles != nil {
      return "\(DatabaseLoss.line(cause)), and so were its change log and its backups: an empty "
        + "one took its place\(unrecorded); \(command: .restore) FILE puts a backup back, and "
        + "\(command: .check) says more\(aside)"
    }
    if isLogLost {
      return "\(DatabaseLoss.line(cause)) and was made again from "
        + "\(DatabaseLoss.source(slot, isLogLost: true)): what was done since that backup is not in it"
        + "\(unrecorded); \(command: .check) says more\(aside)"
    }
    return "\(DatabaseLoss.line(cause)) and was made again from \(DatabaseLoss.source(slot)): "
      + "\(checkpoints) \(checkpoints == 1 ? "checkpoint" : "checkpoints") and "
      + "\(runs) \(runs == 1 ? "run" : "runs")"
      + (recordings == 0 ? "" : " and \(recordings) recording\(recordings == 1 ? "" : "s")")
      + " from the log" + CatchUp.unread(unreadBytes) + unrecorded + aside
  }
}

/// A database and the two files that SQLite keeps beside it.
struct DatabaseFiles: Sendable {
  let path: String
  let files: FileOperations

  private var log: String { path + "-wal" }
  private var index: String { path + "-shm" }

  /// Removes those of the three that exist.
  func remove() throws(SpoolError) {
    for path in [log, index, path] {
      try doing("remove", path) { () throws(SystemError) in try files.unlinkIfThere(path) }
    }
  }

  /// Renames the database and its log, so that the log is not applied to a replacement.
  /// - Parameter word: why it is kept: `damaged`.
  /// - Returns: the new path; nil if there was none.
  func moveAside(_ word: String, now: Int64) throws(SpoolError) -> String? {
    let stamp = DateTime.stamp(of: Double(now / 1_000_000_000))
    let aside = freeName("\(path).\(word)-\(stamp)")
    return try doing("move aside", path) { () throws(SystemError) in
      var isMoved = true
      do throws(SystemError) {
        try files.rename(path, toNew: aside)
      } catch {
        if error.code != ENOENT { throw error }
        isMoved = false
      }
      if let stamp = try? FileStamp(at: log), stamp.byteCount > 0 {
        try files.rename(log, toNew: aside + "-wal")
      } else {
        try files.unlinkIfThere(log)
      }
      try files.unlinkIfThere(index)
      // Flushed before a replacement comes: old and new names must not mix after a power cut.
      try files.flushFolder(FilePath.folder(of: path))
      return isMoved ? aside : nil
    }
  }

  /// Puts a complete, closed database in place.
  func place(_ part: String) throws(SpoolError) {
    try doing("put in place", path) { () throws(SystemError) in
      let file = try files.open(part, O_RDONLY)
      try files.setOwner(of: file, like: FileStamp(at: FilePath.folder(of: path)))
      try files.flush(file)
      try files.rename(part, to: path)
      try files.flushFolder(FilePath.folder(of: path))
    }
  }

  private func freeName(_ name: String) -> String {
    var (free, number) = (name, 2)
    while (try? FileStamp(at: free)) != nil {
      free = "\(name)-\(number)"
      number += 1
    }
    return free
  }
}

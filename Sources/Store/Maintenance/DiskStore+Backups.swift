import Glibc
import PipelineModel
package import Platform

extension DiskStore {
  /// Backs up the database into the first slot of `backups/`; the others shift. Blocks while
  /// another process does so. About 5 ms per MB.
  /// - Returns: the path of the copy.
  package func backUp() throws(SpoolError) -> String {
    let isDone = try withDatabase { (database) throws(SpoolError) in
      try backups.add(database, patience: 60_000)
    }
    if isDone { return backups.path(1) }
    throw SpoolError(
      "back up", path, reason: "another process has been doing so for a minute",
      advice: "try again")
  }

  /// Backs up the database into a user's file, which appears when it is complete.
  /// - Parameter isReplacing: whether an existing file may be replaced.
  package func backUp(to target: String, isReplacing: Bool) throws(SpoolError) {
    let target = FilePath.absolute(target)
    if isReplacing, let refusal = try refusal(toReplaceRecording: target) { throw refusal }
    let folder = FilePath.folder(of: target)
    let part = "\(folder)/.spool-\(AbandonedFiles.newName(for: .current))"
    do {
      try withDatabase { (database) throws(SpoolError) in try backups.write(database, to: part) }
      try doing("write the backup", target) { () throws(SystemError) in
        if isReplacing {
          try files.rename(part, to: target)
        } else {
          try files.rename(part, toNew: target)
        }
        try files.flushFolder(folder)
      }
    } catch {
      try? files.unlink(part)
      if !isReplacing, (try? FileStamp(at: target)) != nil {
        throw SpoolError(
          "write the backup", target, reason: "a file is there already",
          advice: "choose another name, or add \(option: .replace)")
      }
      throw error
    }
  }

  /// Backs up the database and reads the change log if the last backup is over a day old. Ignores
  /// failures (a full disk, say).
  func backUpIfDue() {
    guard backups.isDue(now: clock()) else { return }
    do throws(SpoolError) {
      let isMended = try withDatabase { (database) throws(SpoolError) in
        _ = try backups.add(database)
        return changeLog.mend(in: &database, isSuspect: true)
      }
      if isMended {
        news.tell("the change log was damaged, and was written again from the database")
      }
    } catch {
      // A copy of a damaged database is no backup.
      if error.action == BackupSlots.using || error.kind == .broken {
        news.tell("the database is damaged (\(error.why)): \(command: .check) says more")
      }
    }
  }

  /// Whether a file is a whole backup of a store. Reads it: about 5 ms per MB.
  package static func isBackup(_ path: String) -> Bool {
    let path = FilePath.absolute(path)
    let slots = BackupSlots(
      folder: FilePath.folder(of: path), files: .system, schema: .current)
    return (try? slots.examine(path)) != nil
  }

  /// Replaces a store's database by a backup; the old one is kept aside. Where no store is, as on a
  /// new computer, one is made around the backup: what its artifacts held is computed again.
  /// - Parameters:
  ///   - path: the store's folder.
  ///   - backup: the file; nil for the newest good slot.
  ///   - acceptsOtherStore: whether the backup may be of another store.
  ///   - replacesNewer: whether it may replace a database of a newer format.
  /// - Returns: the backup, the path of the old database, nil if there was none, and how many artifacts
  ///   have no record any more, because what was done since the backup was lost with the change log.
  package static func restore(
    _ path: String, from backup: String?, acceptsOtherStore: Bool = false,
    replacesNewer: Bool = false
  ) throws(SpoolError) -> (backup: String, keptAside: String?, unrecordedFiles: Int) {
    try restore(
      path, from: backup, acceptsOtherStore: acceptsOtherStore, replacesNewer: replacesNewer,
      files: .system)
  }

  static func restore(
    _ path: String, from backup: String?, acceptsOtherStore: Bool = false,
    replacesNewer: Bool = false, files: FileOperations
  ) throws(SpoolError) -> (backup: String, keptAside: String?, unrecordedFiles: Int) {
    let isNew = backup != nil && !isThere(at: path)
    if isNew, let backup { try requireBackup(FilePath.absolute(backup), ofStore: path, files) }
    let site = try RepairSite(path, to: "restore", files: files, isMaking: isNew)
    let hadDatabase = FilePath.exists(site.layout.database)
    let chosen = if let backup { FilePath.absolute(backup) } else { try newestGood(site) }
    guard (try? FileStamp(following: chosen)) != nil else {
      throw SpoolError(
        "find the backup", chosen, reason: "there is no such file",
        advice: "\(command: .restore) \(option: .list) shows the store's own backups")
    }
    try site.slots.examine(chosen)
    if !replacesNewer { try requireNoNewer(chosen, site) }
    var isForeign = isNew
    if !isNew, FilePath.folder(of: chosen) != site.slots.folder {
      do throws(SpoolError) { try requireOwn(chosen, site) } catch {
        if !acceptsOtherStore, try !namesLostRecords(chosen, site) { throw error }
        isForeign = true
      }
    }
    let (keptAside, unrecordedFiles) = try site.rebuild.restore(chosen, isForeign: isForeign)
    if isForeign || !hadDatabase { try writeReceiptLog(of: site) }
    return (chosen, keptAside, unrecordedFiles)
  }

  /// Writes the list of receipts and its signed head beside a database that came without them.
  private static func writeReceiptLog(of site: borrowing RepairSite) throws(SpoolError) {
    let (layout, files) = (site.layout, site.files)
    for path in [layout.receiptLog, layout.receiptHead] where (try? FileStamp(at: path)) != nil {
      return
    }
    let log = ReceiptLog(layout: layout, drafts: DraftFolder(path: layout.drafts, files: files))
    var database = try Database(at: layout.database)
    try database.transaction(to: "restore") { (database) throws(SpoolError) in
      try log.follow(&database)
    }
  }

  /// Throws unless a backup can be used, before a store is made for it.
  private static func requireBackup(
    _ backup: String, ofStore path: String, _ files: FileOperations
  ) throws(SpoolError) {
    let layout = StoreLayout(root: FilePath.absolute(path))
    do throws(SpoolError) {
      try BackupSlots(folder: layout.backups, files: files, schema: .current).examine(backup)
    } catch {
      // There is no store yet that a repair could make again.
      throw SpoolError(
        error.message, reason: error.reason, advice: "choose another backup", cause: error.cause,
        kind: error.kind)
    }
  }

  /// Whether a backup names artifacts whose records this store has lost: then it is its own, though
  /// the database that took the place of the lost one has another identity.
  private static func namesLostRecords(
    _ backup: String, _ site: borrowing RepairSite
  ) throws(SpoolError) -> Bool {
    let lost = LostRecords(layout: site.layout, files: site.files).digests
    if lost.isEmpty { return false }
    var database = try Database(backup: backup)
    for digest in lost {
      if try CheckpointTable.names(digest, in: &database) { return true }
      if (try? RecordingTable.hasOriginal(digest, in: &database)) == true { return true }
      if (try? DeliveryQueue.wants(digest, in: &database)) == true { return true }
    }
    return false
  }

  /// A store's own backups, newest first, each verified. Throws if there is no store. About 5 ms
  /// per MB.
  package static func backups(ofStore path: String) throws(SpoolError) -> [BackupSlot] {
    let layout = StoreLayout(root: FilePath.absolute(path))
    try Inspection.requireStore(at: layout)
    let slots = BackupSlots(folder: layout.backups, files: .system, schema: .current)
    return slots.filled.compactMap { number in
      let path = slots.path(number)
      guard let stamp = try? FileStamp(at: path) else { return nil }
      var fault: String?
      do throws(SpoolError) { try slots.examine(path) } catch { fault = error.reason }
      return BackupSlot(
        number: number, path: path,
        writtenAt: DateTime(secondsSince1970: Double(stamp.modified) / 1e9),
        byteCount: Int(stamp.byteCount), fault: fault)
    }
  }

  /// Throws if the present database has a newer format, whose content is unknown. One that does not
  /// open may be replaced.
  private static func requireNoNewer(
    _ backup: String, _ site: borrowing RepairSite
  ) throws(SpoolError) {
    let schema = site.slots.schema
    guard var current = try? DatabaseSnapshot.open(site.layout),
      case .newer(let version)? = try? schema.status(of: &current)
    else { return }
    var database = try Database(backup: backup)
    let older = try schema.version(of: &database, backup)
    throw SpoolError(
      "restore", site.layout.database,
      reason: "a newer Spool wrote it (format \(version)), and the backup is of format \(older): "
        + "\(backup)",
      advice: "install the newer Spool; \(option: .force) takes the backup all the same, and "
        + "keeps the "
        + "database aside")
  }

  /// Throws if a backup is of another store, whose artifacts are not here.
  private static func requireOwn(
    _ backup: String, _ site: borrowing RepairSite
  ) throws(SpoolError) {
    var database = try Database(backup: backup)
    let other = try StoreIdentity(of: &database)
    if StoreIdentity(ofStoreAt: site).isSameStore(as: other) { return }
    throw SpoolError(
      BackupSlots.using, backup,
      reason: "it is of another store: nothing of it (runs: \(other.runCount)) is known here",
      advice:
        "\(command: .restore) \(option: .list) shows this store's own; \(option: .otherStore) "
        + "takes this one all the same")
  }

  private static func newestGood(_ site: borrowing RepairSite) throws(SpoolError) -> String {
    guard let slot = site.slots.newestGood else {
      throw SpoolError(
        "find a backup in", site.slots.folder,
        reason: site.slots.filled.isEmpty ? "there is none" : "none of them is whole",
        advice: "name a backup's file, or let \(command: .repair) make the database from its "
          + "log")
    }
    return site.slots.path(slot)
  }
}

/// Identifies a store: the identity of its database, and its runs. A rebuilt database has another
/// identity, and the same runs.
struct StoreIdentity: Hashable, Sendable {
  private var names: Set<String> = []
  private var runs: Set<String> = []

  var isUnknown: Bool { names.isEmpty && runs.isEmpty }

  var runCount: Int { runs.count }

  /// Reads a database; an older one has no identity, only runs.
  init(of database: inout Database) throws(SpoolError) {
    let action = "tell the store of"
    let runRows = try database.run("SELECT id FROM runs", to: action)
    runs = Set(runRows.compactMap { $0[0].text })
    let isNamed = try !database.run(
      "SELECT 1 FROM sqlite_schema WHERE name = 'identity'", to: action
    ).isEmpty
    guard isNamed else { return }
    let rows = try database.run("SELECT store FROM identity", to: action)
    names = Set(rows.compactMap { $0[0].text })
  }

  /// What is known of a store: its database as far as it can be read, and the log beside it.
  init(ofStoreAt site: borrowing RepairSite) {
    if (try? FileStamp(at: site.layout.database)) != nil,
      var database = try? Database(at: site.layout.database, for: .reading),
      let known = try? StoreIdentity(of: &database)
    {
      self = known
    }
    for generation in site.log.generations {
      _ = try? site.log.read(generation) { (record) throws(SpoolError) in
        for change in Database.keys(in: record.changes) where change.table == "runs" {
          runs.formUnion(change.key)
        }
      }
    }
    runs.formUnion(site.log.old.runNames)
  }

  /// Whether both may be of one store.
  func isSameStore(as other: StoreIdentity) -> Bool {
    isUnknown || other.isUnknown || !names.isDisjoint(with: other.names)
      || !runs.isDisjoint(with: other.runs)
  }
}

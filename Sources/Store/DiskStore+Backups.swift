import Glibc
public import PipelineModel

extension DiskStore {
  /// Backs the database up into the first of the slots in `backups/`; the older ones move on.
  /// Blocks while another process does so. Costs about 5 ms for a database of 1 MB.
  /// - Returns: where the copy lies.
  public func backUp() throws(StoreError) -> String {
    let isDone = try withDatabase { (database) throws(StoreError) in
      try backups.add(database, patience: 60_000)
    }
    if isDone { return backups.path(1) }
    throw StoreError(
      "back up", path: path, reason: "another process has been doing so for a minute",
      advice: "try again")
  }

  /// Backs the database up into a file of the user's, which appears when it is whole.
  /// - Parameter isReplacing: whether a file that is there may be replaced.
  public func backUp(to target: String, isReplacing: Bool) throws(StoreError) {
    let target = FilePath.absolute(target)
    let folder = FilePath.folder(of: target)
    let part = "\(folder)/.spool-\(AbandonedFiles.newName(for: .current))"
    do {
      try withDatabase { (database) throws(StoreError) in try backups.write(database, to: part) }
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
        throw StoreError(
          "write the backup", path: target, reason: "a file is there already",
          advice: "choose another name, or add --replace")
      }
      throw error
    }
  }

  /// Backs the database up if that has not been done for a day. What keeps it from being done (a
  /// full disk, say) does not concern whoever has just finished a run.
  func backUpIfDue() {
    guard backups.isDue(now: clock()) else { return }
    do throws(StoreError) {
      try withDatabase { (database) throws(StoreError) in _ = try backups.add(database) }
    } catch {
      // A copy of what is damaged is no backup, and the last to show what is.
      if error.action == BackupSlots.using {
        news.tell("the database is damaged (\(error.reason)): spool check says more")
      }
    }
  }

  /// Puts a backup in the place of a store's database. The old one is kept aside.
  /// - Parameters:
  ///   - path: the store's folder.
  ///   - backup: the file; nil for the newest good slot.
  ///   - acceptsOtherStore: whether the backup may be one of another store.
  ///   - replacesNewer: whether it may replace a database that a newer Spool has written.
  /// - Returns: the backup that was used, and where the old database is kept; nil if there was none.
  public static func restore(
    _ path: String, from backup: String?, acceptsOtherStore: Bool = false,
    replacesNewer: Bool = false
  ) throws(StoreError) -> (backup: String, keptAside: String?) {
    try restore(
      path, from: backup, acceptsOtherStore: acceptsOtherStore, replacesNewer: replacesNewer,
      files: .system)
  }

  static func restore(
    _ path: String, from backup: String?, acceptsOtherStore: Bool = false,
    replacesNewer: Bool = false, files: FileOperations
  ) throws(StoreError) -> (backup: String, keptAside: String?) {
    let site = try RepairSite(path, files: files)
    let chosen = if let backup { FilePath.absolute(backup) } else { try newestGood(site) }
    guard (try? FileStamp(following: chosen)) != nil else {
      throw StoreError(
        "find the backup", path: chosen, reason: "there is no such file",
        advice: "spool restore --list shows the store's own backups")
    }
    try site.slots.examine(chosen)
    if !replacesNewer { try requireNoNewer(chosen, site) }
    var isForeign = false
    if FilePath.folder(of: chosen) != site.slots.folder {
      do throws(StoreError) { try requireOwn(chosen, site) } catch {
        guard acceptsOtherStore else { throw error }
        isForeign = true
      }
    }
    return (chosen, try site.rebuild.restore(chosen, isForeign: isForeign))
  }

  /// The backups that a store keeps of its own, newest first, each looked through. Throws if there is no
  /// store. Costs about 5 ms for a backup of 1 MB.
  public static func backups(ofStore path: String) throws(StoreError) -> [BackupSlot] {
    let layout = StoreLayout(root: FilePath.absolute(path))
    try Inspection.requireStore(at: layout)
    let slots = BackupSlots(folder: layout.backups, files: .system, schema: .current)
    return slots.filled.compactMap { number in
      let path = slots.path(number)
      guard let stamp = try? FileStamp(at: path) else { return nil }
      var fault: String?
      do throws(StoreError) { try slots.examine(path) } catch { fault = error.reason }
      return BackupSlot(
        number: number, path: path, writtenAt: Double(stamp.modified) / 1e9,
        byteCount: Int(stamp.byteCount), fault: fault)
    }
  }

  /// Throws where the database that the backup would replace is of a newer format than this Spool
  /// knows: nobody here can tell what would be lost with it. One that does not open may go.
  private static func requireNoNewer(
    _ backup: String, _ site: borrowing RepairSite
  ) throws(StoreError) {
    let schema = site.slots.schema
    guard var current = try? DatabaseSnapshot.open(site.layout),
      case .newer(let version)? = try? schema.standing(of: &current)
    else { return }
    var database = try Database(at: backup, for: .frozen)
    let older = try schema.version(of: &database, backup)
    throw StoreError(
      "restore", path: site.layout.database,
      reason: "a newer Spool wrote it (format \(version)), and the backup is of format \(older): "
        + "\(backup)",
      advice: "install the newer Spool; --force takes the backup all the same, and keeps the "
        + "database aside")
  }

  /// Throws where a backup is one of another store, whose work is not here.
  private static func requireOwn(
    _ backup: String, _ site: borrowing RepairSite
  ) throws(StoreError) {
    var database = try Database(at: backup, for: .frozen)
    let other = try StoreIdentity(of: &database)
    if StoreIdentity(ofStoreAt: site.layout, site.records).isSameStore(as: other) { return }
    throw StoreError(
      BackupSlots.using, path: backup,
      reason: "it is of another store: nothing of it (runs: \(other.runCount)) is known here",
      advice:
        "spool restore --list shows this store's own; --other-store takes this one all the same")
  }

  private static func newestGood(_ site: borrowing RepairSite) throws(StoreError) -> String {
    guard let slot = site.slots.newestGood else {
      throw StoreError(
        "find a backup in", path: site.slots.folder,
        reason: site.slots.filled.isEmpty ? "there is none" : "none of them is whole",
        advice: "name a backup's file, or let spool repair make the database from its records")
    }
    return site.slots.path(slot)
  }
}

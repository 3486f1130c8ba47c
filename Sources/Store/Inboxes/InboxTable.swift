import PipelineModel
package import Platform

/// An inbox that is watched, or was when its process was killed or ended in the middle of its work.
package struct WatchedInbox: Hashable, Sendable {
  /// Absolute path.
  package let path: String
  /// The watching process; nil if there is none.
  package let processNumber: Int?
  /// Its last report; nil before the first.
  package let report: InboxReport?
  /// When it reported, in seconds since 1970.
  package let reportedAt: Double?
}

/// The inboxes that a store serves: their watches, and the mount points of their folders, across
/// processes and boots. Device numbers change between boots; mount points do not.
package struct InboxTable: Sendable {
  let database: SharedDatabase
  let clock: @Sendable () -> Int64
  /// In seconds since 1970.
  private var now: Double { Double(clock()) / 1e9 }

  /// The watched inboxes, by path.
  package func watchedInboxes() throws(SpoolError) -> [WatchedInbox] {
    let mark = InboxReport.claimMark
    let rows = try database.run(
      """
      SELECT summary, owner, note, noted_at FROM work
      WHERE substr(summary, 1, \(mark.count)) = ? ORDER BY summary
      """, [.text(mark)], to: "read the inboxes in")
    return rows.compactMap { row in
      guard let summary = row[0].text else { return nil }
      let owner = row[1].text.flatMap { ProcessIdentity($0) }
      return WatchedInbox(
        path: String(summary.dropFirst(mark.count)),
        processNumber: owner.flatMap { $0.isAlive ? Int($0.number) : nil },
        report: row[2].text.flatMap(SealedText.open).flatMap {
          try? InboxReport(jsonText: $0)
        },
        reportedAt: row[3].real)
    }
  }

  /// Records the command of an inbox's watch, as a line that can be typed anywhere. O(log n).
  package func remember(watch command: String, ofInbox path: String) throws(SpoolError) {
    try database.run(
      "INSERT OR REPLACE INTO watches (inbox, command, began_at) VALUES (?, ?, ?)",
      [.text(path), .text(command), .real(now)], to: "record the watch in")
  }

  /// The command of each inbox's last watch, by path. O(inboxes).
  package func lastWatches() throws(SpoolError) -> [String: String] {
    let rows = try database.run("SELECT inbox, command FROM watches", to: "read the watches in")
    return rows.reduce(into: [:]) { lines, row in
      if let inbox = row[0].text, let command = row[1].text { lines[inbox] = command }
    }
  }

  /// The identity given to the store when it was made.
  package func storeName() throws(SpoolError) -> String {
    try database.run("SELECT store FROM identity", to: "tell the store of").first?[0].text ?? ""
  }

  /// Whether any recording of an inbox was taken in. O(log n).
  package func hasRecordings(ofInbox path: String) throws(SpoolError) -> Bool {
    try !database.run(
      "SELECT 1 FROM note_files WHERE inbox = ? LIMIT 1", [.text(path)], to: "read notes in"
    ).isEmpty
  }

  /// Gives an inbox's recordings and files to its folder's new place, and forgets the old one. O(its
  /// recordings).
  package func move(_ former: String, to path: String) throws(SpoolError) {
    let action = "record the move of an inbox in"
    try database.with { (database) throws(SpoolError) in
      try database.transaction(to: action) { (database) throws(SpoolError) in
        for table in ["notes", "note_files"] {
          try database.run(
            "UPDATE \(table) SET inbox = ? WHERE inbox = ?", [.text(path), .text(former)],
            to: action)
        }
        try RecordingTable.countChange(in: &database)
        _ = try Self.forget(former, in: &database)
      }
    }
  }

  /// Forgets an inbox that no process watches: its watch, what that reported, and where its disk
  /// was mounted. Its recordings stay.
  /// - Returns: whether it was known.
  package func forget(_ path: String) throws(SpoolError) -> Bool {
    try database.with { (database) throws(SpoolError) in
      try database.transaction(to: "forget the inbox in") { (database) throws(SpoolError) in
        if let process = try Self.watcher(of: path, in: &database) {
          throw SpoolError(
            "forget the inbox", path, reason: "process \(process) watches it",
            advice: "kill \(process) ends that watch")
        }
        return try Self.forget(path, in: &database)
      }
    }
  }

  /// The living process that watches an inbox; nil if none does.
  static func watcher(
    of path: String, in database: inout Database
  ) throws(SpoolError) -> Int? {
    let owners = try database.run(
      "SELECT owner FROM work WHERE summary = ?",
      [.text(InboxReport.claimSummary(ofInbox: path))], to: "read the inboxes in")
    return owners.lazy.compactMap { $0[0].text.flatMap { ProcessIdentity($0) } }
      .first(where: \.isAlive).map { Int($0.number) }
  }

  private static func forget(
    _ path: String, in database: inout Database
  ) throws(SpoolError) -> Bool {
    let action = "forget the inbox in"
    var count = 0
    for (statement, key) in [
      ("DELETE FROM watches WHERE inbox = ? RETURNING 1", path),
      ("DELETE FROM mounts WHERE folder = ? RETURNING 1", path),
      ("DELETE FROM work WHERE summary = ? RETURNING 1", InboxReport.claimSummary(ofInbox: path)),
    ] {
      count += try database.run(statement, [.text(key)], to: action).count
    }
    return count > 0
  }

  /// The mount point that contained this folder when it was last used, or of a new one, at or below which
  /// it lies and other folders lay; nil if there is none. Both paths are absolute, without links. O(folders).
  package func mountPoint(ofFolder path: String) throws(SpoolError) -> String? {
    let point = try database.run(
      """
      SELECT mount_point FROM mounts WHERE folder = ?1 UNION ALL \(Self.pointsAbove) LIMIT 1
      """, [.text(path)], to: "read where folders lay in"
    ).first?[0].text
    return point == Self.rootMark ? nil : point
  }

  /// The mount points of other folders at or above a folder, the innermost first.
  private static let pointsAbove = """
    SELECT mount_point FROM (
      SELECT DISTINCT mount_point FROM mounts
      WHERE mount_point <> '' AND (mount_point = ?1
        OR substr(?1, 1, length(mount_point) + 1) = mount_point || '/')
      ORDER BY length(mount_point) DESC)
    """

  /// In place of a mount point: the folder is on the root file system, although others at or below the
  /// same mount point were on a disk.
  private static let rootMark = ""

  /// Records the mount point; nil if the folder is on the root file system. O(folders).
  package func remember(mountPoint: String?, ofFolder path: String) throws(SpoolError) {
    let action = "record where a folder lies in"
    try database.with { (database) throws(SpoolError) in
      guard let mountPoint else {
        _ = try database.run("DELETE FROM mounts WHERE folder = ?", [.text(path)], to: action)
        let isBelowOther = try !database.run(
          Self.pointsAbove + " LIMIT 1", [.text(path)], to: action
        ).isEmpty
        if isBelowOther {
          _ = try database.run(
            "INSERT INTO mounts (folder, mount_point, seen_at) VALUES (?, ?, ?)",
            [.text(path), .text(Self.rootMark), .real(now)], to: action)
        }
        return
      }
      _ = try database.run(
        "INSERT OR REPLACE INTO mounts (folder, mount_point, seen_at) VALUES (?, ?, ?)",
        [.text(path), .text(mountPoint), .real(now)], to: action)
    }
  }
}

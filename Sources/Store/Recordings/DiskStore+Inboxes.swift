internal import FoundationEssentials
import PipelineModel
package import Platform

/// An inbox that is watched, or was when its process was killed.
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

extension DiskStore {
  /// The watched inboxes, by path.
  package func watchedInboxes() throws(SpoolError) -> [WatchedInbox] {
    let mark = InboxReport.claimMark
    let rows = try withDatabase { (database) throws(SpoolError) in
      try database.run(
        """
        SELECT summary, owner, note, noted_at FROM work
        WHERE substr(summary, 1, \(mark.count)) = ? ORDER BY summary
        """, [.text(mark)], to: "read the inboxes in")
    }
    return rows.compactMap { row in
      guard let summary = row[0].text else { return nil }
      let owner = row[1].text.flatMap { ProcessIdentity($0) }
      return WatchedInbox(
        path: String(summary.dropFirst(mark.count)),
        processNumber: owner.flatMap { $0.isAlive ? Int($0.number) : nil },
        report: row[2].text.flatMap(SealedText.open).flatMap {
          try? JSONDecoder().decode(InboxReport.self, from: Data($0.utf8))
        },
        reportedAt: row[3].real)
    }
  }

  /// Records the command of an inbox's watch, as a line that can be typed anywhere. O(log n).
  package func remember(watch command: String, ofInbox path: String) throws(SpoolError) {
    let time = now
    try withDatabase { (database) throws(SpoolError) in
      _ = try database.run(
        "INSERT OR REPLACE INTO watches (inbox, command, began_at) VALUES (?, ?, ?)",
        [.text(path), .text(command), .real(time)], to: "record the watch in")
    }
  }

  /// The command of each inbox's last watch, by path. O(inboxes).
  package func lastWatches() throws(SpoolError) -> [String: String] {
    let rows = try withDatabase { (database) throws(SpoolError) in
      try database.run("SELECT inbox, command FROM watches", to: "read the watches in")
    }
    return rows.reduce(into: [:]) { lines, row in
      if let inbox = row[0].text, let command = row[1].text { lines[inbox] = command }
    }
  }
}

/// Records the mount points of watched folders across processes and boots. Device numbers change
/// between boots; mount points do not.
package protocol MountTable: Sendable {
  /// The mount point that contained this folder when it was last used; nil if none did, or none is
  /// recorded. Both paths are absolute, without links. O(log n).
  func mountPoint(ofFolder path: String) throws(SpoolError) -> String?

  /// Records the mount point; nil if the folder is on the root file system. O(log n).
  func remember(mountPoint: String?, ofFolder path: String) throws(SpoolError)
}

/// Tells stores apart by what they know of an inbox: a store made in an empty mount point knows
/// none of the recordings that the disk's own store has done.
package protocol StoreIdentityRecords: Sendable {
  /// The identity given to the store when it was made.
  func storeName() throws(SpoolError) -> String

  /// Whether any recording of an inbox was taken in. O(log n).
  func hasNotes(ofInbox path: String) throws(SpoolError) -> Bool
}

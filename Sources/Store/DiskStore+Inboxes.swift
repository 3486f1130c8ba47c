internal import FoundationEssentials
public import PipelineModel

/// An inbox that a watch has, or had when it was killed.
public struct WatchedInbox: Hashable, Sendable {
  /// The inbox, as an absolute path.
  public let path: String
  /// The number of the process that watches it; nil where none does any more.
  public let processNumber: Int?
  /// How it stood at last; nil where its watch has not said so yet.
  public let report: InboxReport?
  /// When it stood so, in seconds since 1970.
  public let reportedAt: Double?
}

extension DiskStore {
  /// The inboxes that are watched with this store, in the order of their paths.
  public func watchedInboxes() throws(StoreError) -> [WatchedInbox] {
    let mark = InboxReport.claimMark
    let rows = try withDatabase { (database) throws(StoreError) in
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

  /// Remembers what a watch of an inbox is begun with, as one line that can be typed anywhere; the one
  /// before is forgotten. O(log n).
  public func remember(watch command: String, ofInbox path: String) throws(StoreError) {
    let time = now
    try withDatabase { (database) throws(StoreError) in
      _ = try database.run(
        "INSERT OR REPLACE INTO watches (inbox, command, began_at) VALUES (?, ?, ?)",
        [.text(path), .text(command), .real(time)], to: "record the watch in")
    }
  }

  /// What the last watch of each inbox was begun with, by the inboxes' paths. O(inboxes).
  public func lastWatches() throws(StoreError) -> [String: String] {
    let rows = try withDatabase { (database) throws(StoreError) in
      try database.run("SELECT inbox, command FROM watches", to: "read the watches in")
    }
    return rows.reduce(into: [:]) { lines, row in
      if let inbox = row[0].text, let command = row[1].text { lines[inbox] = command }
    }
  }
}

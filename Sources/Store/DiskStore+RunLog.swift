public import PipelineModel

extension DiskStore: RunLog {
  /// Writes a run, new or changed, whole. While it is running, it is this process's, and on the disk
  /// with the first of its work that is. One that has ended is durable on return; it is also written
  /// beside the database, and, once a day, the database is backed up then.
  public func save(_ run: RunRecord) throws(StoreError) {
    let hasEnded = run.state != .running
    guard hasEnded else {
      try withDeferringDatabase(to: "record a run in") { (database) throws(StoreError) in
        try RunTable.write(run, to: &database)
      }
      return
    }
    try records.write(run)
    try withDatabase { (database) throws(StoreError) in
      try RunTable.write(run, to: &database)
    }
    backUpIfDue()
  }

  /// The newest runs, newest first. Those whose process died while they were running are cut off.
  public func runs(limit: Int) throws(StoreError) -> [RunRecord] {
    try records(
      "SELECT id, record, owner FROM runs ORDER BY started_at DESC, id DESC LIMIT ?",
      [SQLValue(max(0, limit))])
  }

  /// The run of this name or, if there is none, the one whose name begins with it; throws when
  /// several do, nil when none does.
  public func run(named prefix: String) throws(StoreError) -> RunRecord? {
    let found = try records(
      """
      SELECT id, record, owner FROM runs WHERE substr(id, 1, length(?1)) = ?1
      ORDER BY id = ?1 DESC, started_at DESC LIMIT 4
      """, [.text(prefix)])
    guard let first = found.first, found.count > 1, first.id.name != prefix else {
      return found.first
    }
    let names = found.prefix(3).map(\.id.name).joined(separator: ", ")
    throw StoreError(
      "choose a run by", path: prefix,
      reason: "several begin with it: \(names)\(found.count > 3 ? ", …" : "")",
      advice: "type more of the name")
  }

  private func records(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> [RunRecord] {
    let action = "read runs in"
    let rows = try withDatabase { (database) throws(StoreError) in
      try database.run(sql, values, to: action)
    }
    var records: [RunRecord] = []
    for row in rows {
      do {
        var record: RunRecord = try StoredJSON.decode(row[1].text ?? "")
        if record.state == .running, let owner = row[2].text.flatMap({ ProcessIdentity($0) }),
          !owner.isAlive
        {
          record.state = .cutOff
        }
        records.append(record)
      } catch {
        throw StoreError(
          action, path: path, reason: "the record of \(row[0].text ?? "a run") does not read")
      }
    }
    return records
  }
}

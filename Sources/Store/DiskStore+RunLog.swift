public import Hashing
public import PipelineModel

extension DiskStore: RunLog {
  /// Writes a run, new or changed, whole. While it is running, it is this process's, and on the disk
  /// with the first of its work that is. One that has ended is durable on return, and, once a day, the
  /// database is backed up then. As it begins and as it ends, it is also written beside the database.
  public func save(_ run: RunRecord) throws(StoreError) {
    guard run.state != .running else {
      let isNew = (try? FileStamp(at: records.path(of: run.id))) == nil
      return try withDeferringDatabase(to: RunTable.recording) { (database) throws(StoreError) in
        try write(run, isRecorded: isNew, isDurable: false, to: &database)
      }
    }
    try withDatabase { (database) throws(StoreError) in
      try write(run, isRecorded: true, isDurable: true, to: &database)
    }
    backUpIfDue()
  }

  private func write(
    _ run: RunRecord, isRecorded: Bool, isDurable: Bool, to database: inout Database
  ) throws(StoreError) {
    try database.transaction(to: RunTable.recording) { (database) throws(StoreError) in
      try RunTable.write(run, to: &database)
      guard isRecorded else { return }
      try records.write(run, isDurable: isDurable)
      try ledger.append([.run(run.id)], in: &database, isDurable: isDurable)
    }
  }

  /// The newest runs, newest first. Those whose process died while they were running are cut off.
  public func runs(limit: Int) throws(StoreError) -> [RunRecord] {
    try records(
      "SELECT id, record, owner FROM runs ORDER BY started_at DESC, id DESC LIMIT ?",
      [SQLValue(max(0, limit))])
  }

  /// The newest run of a pipeline that read a recording; nil where there is none. O(runs).
  public func lastRun(
    of recording: Digest, pipeline: String
  ) throws(StoreError) -> RunRecord? {
    try records(
      """
      SELECT id, record, owner FROM runs WHERE pipeline = ? AND instr(record, ?) > 0
      ORDER BY started_at DESC, id DESC LIMIT 8
      """, [.text(pipeline), .text(recording.hex)]
    ).first { $0.recordings?.values.contains(recording) == true }
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

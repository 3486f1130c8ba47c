public import PipelineModel

extension DiskStore {
  /// A note by its whole key.
  public func note(_ key: NoteKey) throws(StoreError) -> Note? {
    try readNotes("WHERE key = ?", [.text(key.name)]).first
  }

  /// A note by its key, the beginning of it, or its device's identity.
  public func note(named prefix: String) throws(StoreError) -> Note? {
    // Keys and devices' identities are kept in lower case; devices may show theirs in capitals.
    let prefix = prefix.lowercased()
    let text = SQLValue.text(prefix)
    if let note = try readNotes("WHERE key = ?", [text]).first { return note }
    // A device's identity may be claimed by two: the one that had it first is meant.
    let own = try readNotes(
      "WHERE device_id = ? ORDER BY conflict IS NOT NULL, received_at LIMIT 1", [text])
    if let note = own.first { return note }
    // It may be what another device, or another transfer, calls the same bytes.
    let alias = try readNotes(
      """
      WHERE key IN (SELECT note FROM note_files WHERE device_id = ?) ORDER BY received_at LIMIT 1
      """, [text])
    if let note = alias.first { return note }
    guard !prefix.isEmpty else { return nil }
    let found = try readNotes(
      "WHERE key >= ?1 AND key < ?1 || 'g' ORDER BY received_at DESC LIMIT 4", [text]
    ).filter { $0.key.name.hasPrefix(prefix) }
    guard found.count > 1 else { return found.first }
    let names = found.prefix(3).map(\.key.name).joined(separator: ", ")
    throw StoreError(
      "choose a note by", path: prefix,
      reason: "several begin with it: \(names)\(found.count > 3 ? ", …" : "")",
      advice: "type more of the name")
  }

  /// Notes, those that changed last before the others.
  public func notes(_ query: NoteQuery) throws(StoreError) -> [Note] {
    var conditions: [String] = []
    var values: [SQLValue] = []
    if !query.states.isEmpty {
      let states = query.states.map(\.rawValue).sorted()
      conditions.append("state IN (\(states.map { _ in "?" }.joined(separator: ", ")))")
      values += states.map(SQLValue.text)
    }
    if let isCancelled = query.isCancelled {
      conditions.append("is_cancelled = ?")
      values.append(.integer(isCancelled ? 1 : 0))
    }
    if let pipeline = query.pipeline {
      // Behind a plus, it does not tempt SQLite away from the index that gives the order.
      conditions.append("+pipeline = ?")
      values.append(.text(pipeline))
    }
    if let since = query.changedSince {
      conditions.append("changed_at >= ?")
      values.append(.real(since))
    }
    let filter = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND ")) "
    return try readNotes(
      "\(filter)ORDER BY changed_at DESC, key LIMIT ?", values + [SQLValue(max(0, query.limit))])
  }

  /// Notes that may not be all that was recorded, those that changed last before the others. O(notes
  /// that changed since).
  /// - Parameter time: in seconds since 1970.
  public func doubtfulNotes(
    changedSince time: Double, limit: Int
  ) throws(StoreError) -> [Note] {
    try readNotes(
      """
      WHERE changed_at >= ? AND instr(facts, '"doubt":"') > 0
      ORDER BY changed_at DESC, key LIMIT ?
      """, [.real(time), SQLValue(max(0, limit))])
  }

  /// Notes that are done and claim another one's identity, about which nobody has decided; those that
  /// changed last before the others. O(claims).
  public func openClaims(limit: Int) throws(StoreError) -> [Note] {
    let found = try readNotes(
      "WHERE conflict IS NOT NULL AND state = 'uploaded' ORDER BY changed_at DESC, key", [])
    return Array(found.filter(\.isClaimOpen).prefix(max(0, limit)))
  }

  /// A note's history, the oldest first.
  public func events(of key: NoteKey) throws(StoreError) -> [NoteEvent] {
    let rows = try withDatabase { (database) throws(StoreError) in
      try database.run(
        "SELECT at, state, reason FROM note_events WHERE note = ? ORDER BY number",
        [.text(key.name)], to: NoteTable.reading)
    }
    return rows.compactMap { row in
      guard let at = row[0].real, let state = row[1].text.flatMap(NoteState.init(rawValue:)) else {
        return nil
      }
      return NoteEvent(at: at, state: state, reason: row[2].text)
    }
  }

  /// How many notes stand how.
  public func tally(pipeline: String? = nil) throws(StoreError) -> NoteTally {
    let filter = pipeline == nil ? "" : "WHERE pipeline = ?"
    let values = pipeline.map { [SQLValue.text($0)] } ?? []
    return try withDatabase { (database) throws(StoreError) in
      var tally = NoteTally()
      let rows = try database.run(
        "SELECT state, count(*), min(state_since) FROM notes \(filter) GROUP BY state", values,
        to: NoteTable.reading)
      for row in rows {
        guard let state = row[0].text.flatMap(NoteState.init(rawValue:)),
          let count = row[1].integer, let since = row[2].real
        else { continue }
        tally.counts[state] = NoteTally.Count(count: Int(count), since: since)
      }
      try Self.tellCancelled(in: &database, filter, values, &tally)
      tally.nextAttempt = try database.run(
        """
        SELECT min(next_attempt) FROM notes
        WHERE next_attempt IS NOT NULL \(pipeline == nil ? "" : "AND pipeline = ?")
        """, values, to: NoteTable.reading
      ).first?[0].real
      tally.heldFiles = Int(
        try database.run(
          """
          SELECT count(*) FROM note_files JOIN notes ON notes.key = note_files.note
          WHERE (state = 'uploaded' AND place IN ('inbox', 'quarantine')
            OR state = 'quarantined' AND place = 'inbox')
            \(pipeline == nil ? "" : "AND pipeline = ?")
          """, values, to: NoteTable.reading
        ).first?[0].integer ?? 0)
      return tally
    }
  }

  /// Tells what was cancelled from what failed, and what devices ask of notes that are not there.
  private static func tellCancelled(
    in database: inout Database, _ filter: String, _ values: [SQLValue], _ tally: inout NoteTally
  ) throws(StoreError) {
    func count(_ rest: String) throws(StoreError) -> NoteTally.Count? {
      let sql = "SELECT count(*), \(rest)" + (filter.isEmpty ? "" : " AND pipeline = ?")
      let row = try database.run(sql, values, to: NoteTable.reading).first
      guard let count = row?[0].integer, let since = row?[1].real else { return nil }
      return NoteTally.Count(count: Int(count), since: since)
    }
    tally.cancelled = try count("min(state_since) FROM notes WHERE is_cancelled = 1")
    if tally.cancelled != nil {
      tally.counts[.failed] = try count(
        "min(state_since) FROM notes WHERE state = 'failed' AND is_cancelled = 0")
    }
    tally.waitingCommands = try count(
      "min(taken_at) FROM note_commands WHERE status = 'waiting'")
  }

  /// Notes that are to be processed now, the oldest first.
  public func dueNotes(
    pipeline: String, at time: Double, limit: Int
  ) throws(StoreError) -> [Note] {
    let count = SQLValue(max(0, limit))
    let received = try readNotes(
      """
      WHERE pipeline = ? AND state = 'received' AND original IS NULL ORDER BY received_at LIMIT ?
      """, [.text(pipeline), count])
    let retried = try readNotes(
      "WHERE pipeline = ? AND next_attempt <= ? ORDER BY next_attempt LIMIT ?",
      [.text(pipeline), .real(time), count])
    return Array(
      (received + retried).sorted { ($0.receivedAt, $0.key) < ($1.receivedAt, $1.key) }
        .prefix(max(0, limit)))
  }

  /// When a note that failed is to be tried next.
  public func nextAttempt(pipeline: String) throws(StoreError) -> Double? {
    try withDatabase { (database) throws(StoreError) in
      try database.run(
        "SELECT min(next_attempt) FROM notes WHERE next_attempt IS NOT NULL AND pipeline = ?",
        [.text(pipeline)], to: NoteTable.reading)
    }.first?[0].real
  }

  /// A number that grows with every change of any note.
  public func noteVersion() throws(StoreError) -> Int64 {
    try withDatabase { (database) throws(StoreError) in
      try database.run("SELECT number FROM note_version", to: NoteTable.reading)
    }.first?[0].integer ?? 0
  }

  func readNotes(_ rest: String, _ values: [SQLValue]) throws(StoreError) -> [Note] {
    try withDatabase { (database) throws(StoreError) in
      try NoteTable.notes(rest, values, in: &database)
    }
  }
}

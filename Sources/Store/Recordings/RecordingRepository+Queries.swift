import PipelineModel
package import Platform

extension RecordingRepository {
  /// O(log n).
  package func recording(_ key: RecordingKey) throws(SpoolError) -> Recording? {
    try read("WHERE key = ?", [.text(key.name)]).first
  }

  /// A recording by its key, a prefix of it, or its device's identity; throws if it is ambiguous,
  /// nil if there is none. O(log n).
  package func recording(named prefix: String) throws(SpoolError) -> Recording? {
    // Keys and identities are stored in lower case; devices may show capitals.
    let prefix = prefix.lowercased()
    let text = SQLValue.text(prefix)
    if let recording = try read("WHERE key = ?", [text]).first { return recording }
    // If two claim an identity, its first owner is meant.
    let own = try read(
      "WHERE device_id = ? ORDER BY conflict IS NOT NULL, received_at LIMIT 1", [text])
    if let recording = own.first { return recording }
    // It may be an alias of the same bytes.
    let alias = try read(
      """
      WHERE key IN (SELECT note FROM note_files WHERE device_id = ?) ORDER BY received_at LIMIT 1
      """, [text])
    if let recording = alias.first { return recording }
    guard !prefix.isEmpty else { return nil }
    let found = try read(
      "WHERE key >= ?1 AND key < ?1 || 'g' ORDER BY received_at DESC LIMIT 4", [text]
    ).filter { $0.key.name.hasPrefix(prefix) }
    guard found.count > 1 else { return found.first }
    let names = found.prefix(3).map(\.key.name).joined(separator: ", ")
    throw SpoolError(
      "choose a recording by", prefix,
      reason: "several begin with it: \(names)\(found.count > 3 ? ", …" : "")",
      advice: "type more of the name")
  }

  /// The recordings that arrived as a file of this name, the newest first. O(recordings).
  package func recordings(ofFile name: String) throws(SpoolError) -> [Recording] {
    try read("WHERE file_name = ? ORDER BY received_at DESC", [.text(name)])
  }

  /// The recordings of which a file arrived at a path that ends with these names, or lies there, the
  /// newest first. O(files).
  /// - Parameter path: in the form of ``RecordingFile/path``.
  package func recordings(ofFileAt path: String) throws(SpoolError) -> [Recording] {
    try read(
      """
      WHERE key IN (
          SELECT note FROM note_files
          WHERE role = 'recording' AND (path = ?1 OR substr(path, -length(?1) - 1) = '/' || ?1
            OR location = ?1 AND place IN ('accepted', 'quarantine')))
      ORDER BY received_at DESC
      """, [.text(path)])
  }

  /// The paths in their inboxes by which recordings and their copies arrived, the oldest first, in the
  /// form of ``RecordingFile/path``. O(n log n).
  package func arrivalPaths(
    of recordings: [Recording]
  ) throws(SpoolError) -> [RecordingKey: [String]] {
    let rows = try database.run(
      """
      SELECT note, path FROM note_files
      WHERE role = 'recording' AND note IN (SELECT value FROM json_each(?)) ORDER BY id
      """, [.list(recordings.map(\.key.name))], to: RecordingTable.reading)
    var paths: [RecordingKey: [String]] = [:]
    for row in rows {
      guard let key = row[0].text.map({ RecordingKey($0) }), let path = row[1].text,
        paths[key]?.contains(path) != true
      else { continue }
      paths[key, default: []].append(path)
    }
    return paths
  }

  /// The quarantined recordings that arrived at this path of an inbox and were never decoded to their
  /// end, the newest first. O(log n).
  package func spoiled(
    at path: String, inbox: String, pipeline: String
  ) throws(SpoolError) -> [Recording] {
    try read(
      """
      WHERE key IN (
          SELECT note FROM note_files WHERE inbox = ? AND path = ? AND role = 'recording')
        AND pipeline = ? AND state = 'quarantined' AND accepted_at IS NULL AND conflict IS NULL
      ORDER BY received_at DESC LIMIT 8
      """, [.text(inbox), .text(path), .text(pipeline)])
  }

  /// The recording of a content that a pipeline processes; nil if there is none. O(log n).
  package func recording(
    of content: Digest, pipeline: String
  ) throws(SpoolError) -> Recording? {
    try read(
      "WHERE digest = ? AND pipeline = ?", [.text(content.hex), .text(pipeline)]
    ).first
  }

  /// Recordings, the last changed first. O(log n + limit).
  package func matching(_ query: RecordingQuery) throws(SpoolError) -> [Recording] {
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
      // The plus keeps SQLite on the index that gives the order.
      conditions.append("+pipeline = ?")
      values.append(.text(pipeline))
    }
    if let since = query.changedSince {
      conditions.append("changed_at >= ?")
      values.append(.real(since))
    }
    let filter = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND ")) "
    return try read(
      "\(filter)ORDER BY changed_at DESC, key LIMIT ?", values + [SQLValue(max(0, query.limit))])
  }

  /// Recordings that may be incomplete, the last changed first. O(recordings changed since).
  /// - Parameter time: in seconds since 1970.
  package func doubtful(
    changedSince time: Double, limit: Int
  ) throws(SpoolError) -> [Recording] {
    try read(
      """
      WHERE changed_at >= ?
        AND iif(json_valid(facts), json_type(facts, '$.doubt') = 'text', 0)
      ORDER BY changed_at DESC, key LIMIT ?
      """, [.real(time), SQLValue(max(0, limit))])
  }

  /// Uploaded recordings with undecided claims, the last changed first. O(claims).
  package func openClaims(limit: Int) throws(SpoolError) -> [Recording] {
    try read(
      """
      WHERE conflict IS NOT NULL AND is_claim_open = 1 AND state = 'uploaded'
      ORDER BY changed_at DESC, key LIMIT ?
      """, [SQLValue(max(0, limit))])
  }

  /// A recording's history, the oldest first.
  package func events(of key: RecordingKey) throws(SpoolError) -> [RecordingEvent] {
    let rows = try database.run(
      "SELECT at, state, reason FROM note_events WHERE note = ? ORDER BY number",
      [.text(key.name)], to: RecordingTable.reading)
    return rows.compactMap { row in
      guard let at = row[0].real, let state = row[1].text.flatMap(RecordingState.init(rawValue:))
      else {
        return nil
      }
      return RecordingEvent(at: at, state: state, reason: row[2].text)
    }
  }

  /// Counts by state. O(n) in an index: some milliseconds for 50,000.
  /// - Parameter pipeline: nil for all.
  package func tally(pipeline: String? = nil) throws(SpoolError) -> RecordingTally {
    let filter = pipeline == nil ? "" : "WHERE pipeline = ?"
    let values = pipeline.map { [SQLValue.text($0)] } ?? []
    return try database.with { (database) throws(SpoolError) in
      var tally = RecordingTally()
      let rows = try database.run(
        "SELECT state, count(*), min(state_since) FROM notes \(filter) GROUP BY state", values,
        to: RecordingTable.reading)
      for row in rows {
        guard let state = row[0].text.flatMap(RecordingState.init(rawValue:)),
          let count = row[1].integer, let since = row[2].real
        else { continue }
        tally.counts[state] = RecordingTally.Count(count: Int(count), since: since)
      }
      try Self.tellCancelled(in: &database, filter, values, &tally)
      if tally[.quarantined] > 0 {
        tally.completed = try RecordingFileTable.completed(in: &database)
      }
      tally.nextAttempt = try database.run(
        """
        SELECT min(next_attempt) FROM notes
        WHERE next_attempt IS NOT NULL \(pipeline == nil ? "" : "AND pipeline = ?")
        """, values, to: RecordingTable.reading
      ).first?[0].real
      tally.heldFiles = Int(
        try database.run(
          """
          SELECT count(*) FROM note_files JOIN notes ON notes.key = note_files.note
          WHERE (state = 'uploaded' AND place IN ('inbox', 'quarantine')
            OR state = 'quarantined' AND place = 'inbox')
            \(pipeline == nil ? "" : "AND pipeline = ?")
          """, values, to: RecordingTable.reading
        ).first?[0].integer ?? 0)
      return tally
    }
  }

  /// Separates cancelled from failed recordings, and counts commands for unknown ones.
  private static func tellCancelled(
    in database: inout Database, _ filter: String, _ values: [SQLValue],
    _ tally: inout RecordingTally
  ) throws(SpoolError) {
    func count(_ rest: String) throws(SpoolError) -> RecordingTally.Count? {
      let sql = "SELECT count(*), \(rest)" + (filter.isEmpty ? "" : " AND pipeline = ?")
      let row = try database.run(sql, values, to: RecordingTable.reading).first
      guard let count = row?[0].integer, let since = row?[1].real else { return nil }
      return RecordingTally.Count(count: Int(count), since: since)
    }
    tally.cancelled = try count("min(state_since) FROM notes WHERE is_cancelled = 1")
    if tally.cancelled != nil {
      tally.counts[.failed] = try count(
        "min(state_since) FROM notes WHERE state = 'failed' AND is_cancelled = 0")
    }
    tally.waitingCommands = try count(
      "min(taken_at) FROM note_commands WHERE status = 'waiting'")
  }

  /// Recordings to be processed now, the oldest first. O(log n + limit).
  /// - Parameter time: in seconds since 1970.
  package func due(
    pipeline: String, at time: Double, limit: Int
  ) throws(SpoolError) -> [Recording] {
    let count = SQLValue(max(0, limit))
    let received = try read(
      """
      WHERE pipeline = ? AND state = 'received' AND original IS NULL ORDER BY received_at LIMIT ?
      """, [.text(pipeline), count])
    let retried = try read(
      "WHERE pipeline = ? AND next_attempt <= ? ORDER BY next_attempt LIMIT ?",
      [.text(pipeline), .real(time), count])
    return Array(
      (received + retried).sorted { ($0.receivedAt, $0.key) < ($1.receivedAt, $1.key) }
        .prefix(max(0, limit)))
  }

  /// The recordings that came later with the sound of one, in other files, in the order of their arrival.
  /// O(n).
  package func duplicates(of key: RecordingKey) throws(SpoolError) -> [Recording] {
    try read("WHERE original = ? ORDER BY received_at", [.text(key.name)])
  }

  /// When the next failed recording is due, in seconds since 1970; nil if none.
  package func nextAttempt(pipeline: String) throws(SpoolError) -> Double? {
    try database.run(
      "SELECT min(next_attempt) FROM notes WHERE next_attempt IS NOT NULL AND pipeline = ?",
      [.text(pipeline)], to: RecordingTable.reading
    ).first?[0].real
  }

  /// Grows with every change of any recording.
  package func version() throws(SpoolError) -> Int64 {
    try database.run("SELECT number FROM note_version", to: RecordingTable.reading).first?[0]
      .integer ?? 0
  }

  func read(_ rest: String, _ values: [SQLValue]) throws(SpoolError) -> [Recording] {
    try database.with { (database) throws(SpoolError) in
      try RecordingTable.recordings(rest, values, in: &database)
    }
  }
}

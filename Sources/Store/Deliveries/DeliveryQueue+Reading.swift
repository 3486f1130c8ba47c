internal import FoundationEssentials
package import PipelineModel
package import Platform

extension DeliveryQueue {
  /// What is asked of the queue.
  package struct Query: Sendable {
    package var destination: String?
    /// Empty for all.
    package var states: Set<QueuedDelivery.State> = []
    package var owner: DeliveryOwner?
    /// The runs of a batch, and others.
    package var batch: (id: RunID, others: [RunID])?
    package var ids: [Int64]?
    package var limit = Int.max

    package init(states: Set<QueuedDelivery.State> = []) { self.states = states }

    package static func of(_ owner: DeliveryOwner) -> Query {
      var query = Query()
      query.owner = owner
      return query
    }

    package static func of(ids: [Int64]) -> Query {
      var query = Query()
      query.ids = ids
      return query
    }

    /// - Parameter others: runs of earlier batches.
    package static func of(batch: RunID, others: [RunID]) -> Query {
      var query = Query()
      query.batch = (batch, others)
      return query
    }
  }

  /// Deliveries, in the order in which they were added. O(n).
  package func matching(_ query: Query) throws(SpoolError) -> [QueuedDelivery] {
    var conditions: [String] = []
    var values: [SQLValue] = []
    if let destination = query.destination {
      conditions.append("destination = ?")
      values.append(.text(destination))
    }
    if !query.states.isEmpty {
      let states = query.states.map(\.rawValue).sorted()
      conditions.append("state IN (\(states.map { _ in "?" }.joined(separator: ", ")))")
      values += states.map(SQLValue.text)
    }
    if let owner = query.owner {
      conditions.append("id IN (SELECT delivery FROM delivery_owners WHERE owner = ?)")
      values.append(.text(owner.text))
    }
    if let batch = query.batch {
      conditions.append(
        """
        id IN (SELECT delivery FROM delivery_owners
          WHERE owner >= ? AND owner < ? OR owner IN (SELECT value FROM json_each(?)))
        """)
      let text = DeliveryOwner.run(batch.id).text
      values += [
        .text(text), .text(text + "~"), .list(batch.others.map { DeliveryOwner.run($0).text }),
      ]
    }
    if let ids = query.ids {
      conditions.append("id IN (SELECT value FROM json_each(?))")
      values.append(.list(ids))
    }
    let filter = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND ")) "
    return try read(
      "\(filter)ORDER BY id LIMIT ?", values + [.integer(Int64(clamping: query.limit))])
  }

  /// The files of a destination to be sent now, the first due first. O(log n + limit).
  /// - Parameter time: in seconds since 1970.
  package func due(
    _ destination: String, at time: Double, limit: Int
  ) throws(SpoolError) -> [QueuedDelivery] {
    try read(
      """
      WHERE destination = ? AND state = 'waiting' AND next_try <= ? ORDER BY next_try, id LIMIT ?
      """, [.text(destination), .real(time), .integer(Int64(limit))])
  }

  /// The runs among these of which files are not delivered, in order. O(n log n).
  package func undelivered(among runs: [RunID]) throws(SpoolError) -> [RunID] {
    try database.run(
      """
      SELECT DISTINCT owner FROM delivery_owners JOIN deliveries ON id = delivery
      WHERE owner IN (SELECT value FROM json_each(?)) AND state <> 'delivered' ORDER BY owner
      """, [.list(runs.map { DeliveryOwner.run($0).text })], to: Self.reading
    ).compactMap { row in
      if case .run(let id)? = row[0].text.flatMap(DeliveryOwner.init) { id } else { nil }
    }
  }

  /// Counts by destination and state. O(n) in rows: some milliseconds for 10,000.
  package func tally() throws(SpoolError) -> [DeliveryTally] {
    try database.run(
      """
      SELECT destination, state, count(*), sum(byte_count), sum(sent_byte_count), min(added_at),
        min(next_try)
      FROM deliveries GROUP BY destination, state ORDER BY destination, state
      """, to: Self.reading
    ).compactMap { row in
      guard let destination = row[0].text,
        let state = row[1].text.flatMap(QueuedDelivery.State.init(rawValue:)),
        let count = row[2].integer, let bytes = row[3].integer, let sent = row[4].integer,
        let since = row[5].real, let next = row[6].real
      else { return nil }
      return DeliveryTally(
        destination: destination, state: state, count: Int(count), byteCount: Int(bytes),
        sentByteCount: Int(sent), since: since, nextTry: next)
    }
  }

  /// The last failure of a file that a destination has not got; nil if there is none. O(n), without
  /// reading the rows.
  package func trouble(of destination: String) throws(SpoolError) -> String? {
    try database.run(
      """
      SELECT trouble FROM deliveries
      WHERE destination = ? AND state IN ('failed', 'waiting', 'pending') AND trouble IS NOT NULL
      LIMIT 1
      """, [.text(destination)], to: Self.reading
    ).first?[0].text
  }

  /// How many files a destination has confirmed. O(n), without reading the rows.
  package func confirmedCount(at destination: String) throws(SpoolError) -> Int {
    let row = try database.run(
      "SELECT count(*) FROM deliveries WHERE destination = ? AND state = 'delivered'",
      [.text(destination)], to: Self.reading
    ).first
    return Int(row?[0].integer ?? 0)
  }

  /// The copies of a recording. O(its files).
  package func copies(of key: RecordingKey) throws(SpoolError) -> RecordingCopies {
    try copies("owner = ?1", DeliveryOwner.recording(key).text)[key] ?? RecordingCopies()
  }

  /// The copies of all recordings whose files were queued. O(n).
  package func allCopies() throws(SpoolError) -> [RecordingKey: RecordingCopies] {
    // Keys are hexadecimal digits.
    try copies("owner >= ?1 AND owner < ?1 || 'g'", DeliveryOwner.recordingMark)
  }

  /// Of documents, the length is unknown before they are made: their bytes do not count.
  private func copies(
    _ condition: String, _ owner: String
  ) throws(SpoolError) -> [RecordingKey: RecordingCopies] {
    let rows = try database.run(
      """
      SELECT owner, destination, min(state = 'delivered'),
        sum(iif(made_of IS NULL, byte_count, 0)),
        sum(iif(made_of IS NULL, min(sent_byte_count, byte_count), 0))
      FROM delivery_owners JOIN deliveries ON id = delivery
      WHERE \(condition) AND role <> '\(DeliveryRequest.Content.confirmation.rawValue)'
      GROUP BY owner, destination ORDER BY owner, destination
      """, [.text(owner)], to: Self.reading)
    return rows.reduce(into: [:]) { copies, row in
      guard case .recording(let key)? = row[0].text.flatMap(DeliveryOwner.init),
        let destination = row[1].text
      else { return }
      copies[key, default: RecordingCopies()].add(
        destination, isWhole: row[2].integer == 1, byteCount: Int(row[3].integer ?? 0),
        sentByteCount: Int(row[4].integer ?? 0))
    }
  }

  /// How many recordings are uploaded and have no copy that a destination has confirmed, and since when,
  /// in seconds since 1970; nil if there are none. O(recordings).
  /// - Parameter lost: recordings whose original lies nowhere any more: they have no copy at all.
  package func singleCopies(
    besides lost: [RecordingKey] = []
  ) throws(SpoolError) -> (count: Int, since: Double)? {
    let row = try database.run(
      """
      SELECT count(*), min(uploaded_at) FROM notes
      WHERE state = 'uploaded' AND NOT EXISTS (
        SELECT 1 FROM delivery_owners JOIN deliveries ON id = delivery
        WHERE owner = ? || coalesce(original, key) AND deliveries.state = 'delivered')
        AND key NOT IN (SELECT value FROM json_each(?))
      """, [.text(DeliveryOwner.recordingMark), .list(lost.map(\.name))], to: Self.reading
    ).first
    guard let count = row?[0].integer, let since = row?[1].real else { return nil }
    return (Int(count), since)
  }

  /// The last delivery that a recording required and that was confirmed; nil if there is none.
  package func lastConfirmed(of key: RecordingKey) throws(SpoolError) -> Int64? {
    try database.run(
      """
      SELECT id FROM delivery_owners JOIN deliveries ON id = delivery
      WHERE owner = ? AND is_required = 1 AND state = 'delivered'
      ORDER BY confirmed_at DESC, id DESC LIMIT 1
      """, [.text(DeliveryOwner.recording(key).text)], to: Self.reading
    ).first?[0].integer
  }

  /// The file of a delivery, for reading: the store's, else the one where it lay when it was queued, else
  /// one with the same bytes where the store knows one. Its bytes are not verified.
  /// - Throws: if none is there.
  package func source(of file: QueuedDelivery.File) throws(SpoolError) -> String {
    let kept = layout.artifact(file.digest)
    if (try? FileStamp(at: kept))?.byteCount == Int64(file.byteCount) { return kept }
    func fits(_ path: String) -> Bool {
      (try? FileStamp(following: path))?.byteCount == Int64(file.byteCount)
    }
    if let path = file.path, fits(path) { return path }
    if let path = try knownPaths(of: file.digest).first(where: fits) { return path }
    if let path = file.path, FilePath.exists(path) { return path }
    throw SpoolError(
      "send", file.path ?? file.name,
      reason: file.path == nil ? "the store has it no more" : "it is not there any more",
      advice: "put it back; if it has another name now, run its pipeline on it there",
      cause: .input, kind: .missing)
  }

  /// The bytes of an original that the store keeps; nil if it does not.
  package func keptByteCount(of digest: Digest) -> Int? {
    (try? FileStamp(at: layout.artifact(digest))).map { Int($0.byteCount) }
  }

  /// The paths outside the store under which files with these bytes were read, exported or queued. O(n).
  private func knownPaths(of digest: Digest) throws(SpoolError) -> [String] {
    try database.run(
      """
      SELECT file FROM deliveries WHERE digest = ?1 AND file IS NOT NULL
      UNION SELECT path FROM published WHERE content = ?1
      UNION SELECT path FROM digests WHERE digest = ?2
      UNION SELECT input.value FROM runs,
        json_each(CASE WHEN json_valid(record) THEN record ELSE '{}' END, '$.recordings') AS own,
        json_each(CASE WHEN json_valid(record) THEN record ELSE '{}' END, '$.inputs') AS input
      WHERE instr(record, ?1) > 0 AND own.value = ?1 AND input.key = own.key
      """, [.text(digest.hex), .text(SealedText.seal(digest.hex))], to: Self.reading
    ).compactMap { $0[0].text }
  }

  func read(_ rest: String, _ values: [SQLValue]) throws(SpoolError) -> [QueuedDelivery] {
    try database.with { (database) throws(SpoolError) in
      try Self.deliveries(rest, values, in: &database)
    }
  }

  /// Deliveries, by the text that follows `FROM deliveries`.
  static func deliveries(
    _ rest: String, _ values: [SQLValue], in database: inout Database
  ) throws(SpoolError) -> [QueuedDelivery] {
    try database.run(
      """
      SELECT id, destination, path, name, role, digest, byte_count, recording, file, facts, if_there,
        state, attempts, next_try, trouble, added_at, upload, sent_byte_count, confirmed_at,
        confirmed_byte_count, confirmed_digest, identifier, made_of
      FROM deliveries \(rest)
      """, values, to: reading
    ).compactMap(delivery)
  }

  private static func delivery(_ row: SQLRow) -> QueuedDelivery? {
    guard let id = row[0].integer, let destination = row[1].text, let path = row[2].text,
      let name = row[3].text,
      let content = row[4].text.flatMap(DeliveryRequest.Content.init(rawValue:)),
      let digest = row[5].text.flatMap(Digest.init(hex:)), let byteCount = row[6].integer,
      let facts: [String: String] = try? StoredJSON.decode(row[9].text ?? ""),
      let encounter = row[10].text.flatMap(DeliveryRequest.Encounter.init(rawValue:)),
      let state = row[11].text.flatMap(QueuedDelivery.State.init(rawValue:)),
      let attempts = row[12].integer, let nextTry = row[13].real, let addedAt = row[15].real
    else { return nil }
    let file = QueuedDelivery.File(
      name: name, content, digest: digest, byteCount: Int(byteCount),
      recording: row[7].text.flatMap(Digest.init(hex:)), path: row[8].text, facts: facts)
    var delivery = QueuedDelivery(
      id: id, destination: destination, path: path, file: file,
      document: row[22].text.flatMap { try? StoredJSON.decode($0) }, encounter: encounter,
      nextTry: nextTry, addedAt: addedAt)
    delivery.state = state
    delivery.attempts = Int(attempts)
    delivery.trouble = row[14].text
    delivery.upload = row[16].text.flatMap { Data(base64Encoded: $0) }.map { Array($0) }
    delivery.sentByteCount = Int(row[17].integer ?? 0)
    if let at = row[18].real, let count = row[19].integer,
      let confirmed = row[20].text.flatMap(Digest.init(hex:))
    {
      delivery.confirmation = QueuedDelivery.Confirmation(
        byteCount: Int(count), digest: confirmed, at: at, identifier: row[21].text)
    }
    return delivery
  }
}

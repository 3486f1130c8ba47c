package import PipelineModel
package import Platform

/// Documents about delivered files, which are delivered behind them.
extension DeliveryQueue {
  /// Adds a document, which is pending, or finds the one that is made of the same. One that has failed
  /// is made again. Where a later one says something else of the recording, as after a correction that
  /// was taken back, what is true again is said once more: the newest counts.
  static func insert(
    _ order: Order, _ document: DeliveryDocument, at now: Double, in database: inout Database
  ) throws(SpoolError) -> Int64 {
    let file = order.file
    let document = try newest(like: order, document, at: now, in: &database)
    let (madeOf, local) = (
      try StoredJSON.encode(document, to: writing),
      try order.local.map { (local) throws(SpoolError) in try StoredJSON.encode(local, to: writing)
      }
    )
    let known = try database.run(
      """
      UPDATE deliveries SET local = coalesce(?, local), if_there = ?,
        state = CASE state WHEN 'failed' THEN 'pending' ELSE state END,
        trouble = CASE state WHEN 'failed' THEN NULL ELSE trouble END
      WHERE destination = ? AND made_of = ? RETURNING id
      """,
      [
        SQLValue(local), .text(order.encounter.rawValue), .text(order.destination), .text(madeOf),
      ], to: writing
    ).first
    if let id = known?[0].integer { return id }
    let path = try freePath(order.path, at: order.destination, in: &database)
    let rows = try database.run(
      """
      INSERT INTO deliveries (destination, recording, name, digest, path, role, byte_count, facts,
        if_there, state, attempts, next_try, added_at, sent_byte_count, made_of, local)
      VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, 0, ?, ?, 0, ?, ?) RETURNING id
      """,
      [
        .text(order.destination), .text(file.recording?.hex ?? ""), .text(file.name),
        // It stands for the bytes until there are any.
        .text(SHA256.digest(of: madeOf).hex), .text(path), .text(file.content.rawValue),
        .text(try StoredJSON.encode(file.facts, to: writing)), .text(order.encounter.rawValue),
        .text((order.isHeld ? QueuedDelivery.State.held : .pending).rawValue), .real(now),
        .real(now), .text(madeOf), SQLValue(local),
      ], to: writing)
    guard let id = rows.first?[0].integer else {
      throw SpoolError(writing, database.path, reason: "the row was not written")
    }
    return id
  }

  /// The document that says what another one says, and is the newest about its recording.
  private static func newest(
    like order: Order, _ document: DeliveryDocument, at now: Double, in database: inout Database
  ) throws(SpoolError) -> DeliveryDocument {
    guard order.file.content == .metadata, let recording = order.file.recording else {
      return document
    }
    let rows = try database.run(
      """
      SELECT made_of FROM deliveries
      WHERE destination = ? AND recording = ? AND name = ? AND role = ? AND made_of IS NOT NULL
        AND json_extract(facts, '$.pipeline') IS ?
      ORDER BY id DESC
      """,
      [
        .text(order.destination), .text(recording.hex), .text(order.file.name),
        .text(order.file.content.rawValue), SQLValue(order.file.facts["pipeline"]),
      ], to: reading)
    let known = rows.compactMap { row -> DeliveryDocument? in
      row[0].text.flatMap { try? StoredJSON.decode($0) }
    }
    func isSame(_ other: DeliveryDocument) -> Bool {
      other.parts == document.parts && other.about == document.about
        && other.recordingName == document.recordingName
    }
    if let last = known.first, isSame(last) { return last }
    var again = document
    if known.contains(where: isSame) { again.since = now }
    return again
  }

  /// The documents whose files are all delivered, in the order in which they were added. O(documents
  /// that are pending).
  package func makeable() throws(SpoolError) -> [QueuedDelivery] {
    try read(
      """
      WHERE state = 'pending' AND NOT EXISTS (
        SELECT 1 FROM json_each(deliveries.made_of, '$.parts') AS part
          LEFT JOIN deliveries AS file ON file.id = part.value
        WHERE file.state IS NOT 'delivered')
      ORDER BY id
      """, [])
  }

  /// The files that a document is about, the recording itself first.
  package func parts(of document: DeliveryDocument) throws(SpoolError) -> [QueuedDelivery] {
    var query = Query()
    query.ids = document.parts
    let parts = try matching(query)
    guard parts.count == document.parts.count else {
      throw SpoolError(
        "cannot read the queue",
        reason: "\(document.parts.count - parts.count) of a document's files are not in it",
        advice: "\(command: .repair)", cause: .blocked)
    }
    return parts.filter(\.file.isRecording) + parts.filter { !$0.file.isRecording }
  }

  /// The confirmations that are not signed yet, whether or not their files are delivered. O(documents
  /// that are pending).
  package func unsigned() throws(SpoolError) -> [QueuedDelivery] {
    try read(
      "WHERE state = 'pending' AND role = ? ORDER BY id",
      [.text(DeliveryRequest.Content.confirmation.rawValue)])
  }

  /// What of this machine the making of a document needs; nil if nothing.
  package func local(of id: Int64) throws(SpoolError) -> DeliveryDocument.Local? {
    try database.run(
      "SELECT local FROM deliveries WHERE id = ?", [.integer(id)], to: Self.reading
    ).first?[0].text.flatMap { try? StoredJSON.decode($0) }
  }

  /// Records the bytes of a pending document, which are in the store: it waits to be sent, before the files
  /// that were added later.
  /// - Returns: false if another process has made it.
  @discardableResult
  package func record(_ artifact: Artifact, for id: Int64) throws(SpoolError) -> Bool {
    try transaction { (database) throws(SpoolError) in
      try !database.run(
        """
        UPDATE deliveries SET state = 'waiting', digest = ?, byte_count = ?, attempts = 0,
          next_try = added_at, trouble = NULL, upload = NULL, sent_byte_count = 0
        WHERE id = ? AND state = 'pending' RETURNING 1
        """,
        [.text(artifact.digest.hex), .integer(Int64(artifact.byteCount)), .integer(id)],
        to: Self.writing
      ).isEmpty
    }
  }

  /// Records why a pending document cannot be made.
  package func refuse(_ id: Int64, because trouble: String) throws(SpoolError) {
    _ = try database.run(
      "UPDATE deliveries SET trouble = ?1 WHERE id = ?2 AND state = 'pending' AND trouble IS NOT ?1",
      [.text(trouble), .integer(id)], to: Self.writing)
  }

  /// Has a document made again whose bytes the store has no more.
  package func remake(_ id: Int64) throws(SpoolError) {
    _ = try database.run(
      """
      UPDATE deliveries SET state = 'pending', trouble = NULL, upload = NULL, sent_byte_count = 0
      WHERE id = ? AND state <> 'delivered' AND made_of IS NOT NULL
      """, [.integer(id)], to: Self.writing)
  }
}

internal import FoundationEssentials
package import PipelineModel
package import Platform

/// The queue of files on their way to destinations. Every method may be called from any thread and
/// is durable on return, except where it says otherwise.
package struct DeliveryQueue: Sendable {
  let database: SharedDatabase
  /// The path of the lock of the one process that sends.
  let lock: String
  let layout: StoreLayout
  let files: FileOperations
  /// Nanoseconds since 1970.
  let clock: @Sendable () -> Int64

  static let reading = "read deliveries in"
  static let writing = "record deliveries in"

  /// In seconds since 1970.
  package var now: Double { Double(clock()) / 1e9 }

  /// A file to be delivered.
  package struct Order: Hashable, Sendable {
    package internal(set) var file: QueuedDelivery.File
    package let destination: String
    /// The path that it is to have there.
    package internal(set) var path: String
    /// How many names of the path lead to the folder of its version; nil if there is none.
    package let versionDepth: Int?
    package let encounter: DeliveryRequest.Encounter
    package private(set) var isRequired: Bool
    /// Whether a person has to release it first.
    package var isHeld = false
    /// What is said in a document about the files of the same list and destination that stand before
    /// it, in its maker's own form; nil for a file that is there. Its digest and its length do not
    /// count.
    package var about: String?
    /// What of this machine the making of the document needs; nil if nothing.
    package var local: DeliveryDocument.Local?

    /// The same, for an owner that need not wait for it.
    package var optional: Order {
      var order = self
      order.isRequired = false
      return order
    }

    package init(
      _ file: QueuedDelivery.File, to destination: String, at path: String,
      versionDepth: Int? = nil, encounter: DeliveryRequest.Encounter, isRequired: Bool
    ) {
      self.versionDepth = versionDepth
      self.file = file
      self.destination = destination
      self.path = path
      self.encounter = encounter
      self.isRequired = isRequired
    }
  }

  /// Queues files, idempotently: a recording is delivered to a destination once, under its first name,
  /// whatever name it has later, and the files made of it of a list lie in one folder together, so that what lists and signs them can be
  /// checked there. Where one of them has other bytes than in every such folder, all of them are
  /// delivered to another one, with a number. A file that has failed is tried again. Earlier bytes of a
  /// file that are not sent yet are not sent any more: what waits for them waits for the new ones.
  /// O(log n) a file.
  /// - Returns: the deliveries in the order of the files, those that were known included.
  @discardableResult
  package func add(
    _ orders: [Order], for owner: DeliveryOwner
  ) throws(SpoolError) -> [QueuedDelivery] {
    if orders.isEmpty { return [] }
    return try transaction { (database) throws(SpoolError) in
      var orders = orders
      if try Self.isHeld(anyOf: orders, in: &database) {
        for index in orders.indices { orders[index].isHeld = true }
      }
      let waiting = try Self.withdraw(replacedBy: orders, in: &database)
      var added: [QueuedDelivery] = []
      var folders: [String: String?] = [:]
      for var order in orders {
        let destination = order.destination
        let folder: String?
        if let known = folders[destination] {
          folder = known
        } else {
          folder = try Self.versionFolder(
            of: orders.filter { $0.destination == destination }, in: &database)
          folders[destination] = folder
        }
        if let folder, order.versionDepth != nil { order.move(to: folder) }
        let parts = added.filter { $0.destination == destination }
        let id = try Self.insert(
          order, behind: parts.map(\.id), by: orders.recordingName(of: parts), at: now,
          in: &database)
        try Self.add(id, for: owner, isRequired: order.isRequired, in: &database)
        added += try Self.deliveries("WHERE id = ?", [.integer(id)], in: &database)
      }
      for (destination, keys) in waiting {
        let required = added.filter {
          $0.destination == destination && $0.file.content != .confirmation
        }
        try require(required.map(\.id), for: keys, in: &database)
      }
      guard orders.contains(where: \.isHeld),
        try Self.hold(for: owner, in: &database) > 0
      else { return added }
      var held: [QueuedDelivery] = []
      for delivery in added {
        held += try Self.deliveries("WHERE id = ?", [.integer(delivery.id)], in: &database)
      }
      return held
    }
  }

  /// - Parameters:
  ///   - parts: the rows that a document is about.
  ///   - recordingName: the recording's name in the document, if that is not the one in its row.
  /// - Returns: the row's number.
  static func insert(
    _ order: Order, behind parts: [Int64], by recordingName: String? = nil, at now: Double,
    in database: inout Database
  ) throws(SpoolError) -> Int64 {
    if let about = order.about {
      let document = DeliveryDocument(parts: parts, about: about, recordingName: recordingName)
      return try insert(order, document, at: now, in: &database)
    }
    let file = order.file
    let rows = try knownRows(of: order, in: &database)
    // An original is the same wherever it lies; another file belongs to its version.
    let isAnywhere = order.versionDepth == nil || file.content == .original
    let known = rows.first { isAnywhere || ExactText($0.clearPath) == ExactText(order.clearPath) }
    if let known {
      let id = known.id
      if known.state != QueuedDelivery.State.delivered.rawValue {
        try database.run(
          "UPDATE deliveries SET file = coalesce(?, file), if_there = ? WHERE id = ?",
          [SQLValue(file.path), .text(order.encounter.rawValue), .integer(id)], to: writing)
        // What was wrong may be mended.
        try database.run(
          """
          UPDATE deliveries SET state = 'waiting', attempts = 0, next_try = ?, trouble = NULL
          WHERE id = ? AND state = 'failed'
          """, [.real(now), .integer(id)], to: writing)
      }
      return id
    }
    let path = try freePath(order.path, at: order.destination, in: &database)
    let added = try database.run(
      """
      INSERT INTO deliveries (destination, recording, name, digest, path, role, byte_count, file,
        facts, if_there, state, attempts, next_try, added_at, sent_byte_count)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, 0) RETURNING id
      """,
      order.key + [
        .text(path), .text(file.content.rawValue), .integer(Int64(file.byteCount)),
        SQLValue(file.path), .text(try StoredJSON.encode(file.facts, to: writing)),
        .text(order.encounter.rawValue),
        .text((order.isHeld ? QueuedDelivery.State.held : .waiting).rawValue), .real(now),
        .real(now),
      ], to: writing)
    guard let id = added.first?[0].integer else {
      throw SpoolError(writing, database.path, reason: "the row was not written")
    }
    return id
  }

  /// The path, or one with a number, that no other file of the queue has. O(k log n) for k files of
  /// that name.
  static func freePath(
    _ path: String, at destination: String, in database: inout Database
  ) throws(SpoolError) -> String {
    for number in 1...10_000 {
      let candidate = QueuedDelivery.numbered(path, number)
      let taken = try database.run(
        "SELECT 1 FROM deliveries WHERE destination = ? AND path = ?",
        [.text(destination), .text(candidate)], to: reading)
      if taken.isEmpty { return candidate }
    }
    throw SpoolError(
      "queue \(path) for \(destination)",
      reason: "10,000 files of its name are there or on their way there already",
      advice: "put {noteId} into the path in the pipeline")
  }

  /// Records that this process sends a file. A power cut may take that back.
  /// - Returns: false if it waits no more.
  package func begin(_ delivery: QueuedDelivery) throws(SpoolError) -> Bool {
    try database.with { (database) throws(SpoolError) in
      try database.transactionWithoutFlush(to: Self.writing) { (database) throws(SpoolError) in
        try !database.run(
          """
          UPDATE deliveries SET state = 'uploading',
            facts = json_set(facts, '$.\(QueuedDelivery.File.began)', ? || ' ' || sent_byte_count)
          WHERE id = ? AND digest = ? AND state = 'waiting' RETURNING 1
          """, [.real(now), .integer(delivery.id), .text(delivery.file.digest.hex)],
          to: Self.writing
        ).isEmpty
      }
    }
  }

  /// Records how far an upload is.
  /// - Parameter isFlushed: whether it is to survive a power cut; else it survives the death of the
  ///   process.
  package func note(
    _ id: Int64, upload: [UInt8]?, sentByteCount: Int, isFlushed: Bool
  ) throws(SpoolError) {
    let values: [SQLValue] = [
      SQLValue(upload.map { Data($0).base64EncodedString() }), .integer(Int64(sentByteCount)),
      .integer(id),
    ]
    let sql = "UPDATE deliveries SET upload = ?, sent_byte_count = ? WHERE id = ?"
    try database.with { (database) throws(SpoolError) in
      if isFlushed {
        try database.run(sql, values, to: Self.writing)
      } else {
        try database.transactionWithoutFlush(to: Self.writing) { (database) throws(SpoolError) in
          _ = try database.run(sql, values, to: Self.writing)
        }
      }
    }
  }

  /// Gives a delivery that no file was written for another name, with the next free number.
  /// - Returns: its new path.
  package func rename(_ delivery: QueuedDelivery) throws(SpoolError) -> String {
    return try transaction { (database) throws(SpoolError) in
      let path = try Self.freePath(delivery.path, at: delivery.destination, in: &database)
      try database.run(
        "UPDATE deliveries SET path = ?, upload = NULL, sent_byte_count = 0 WHERE id = ?",
        [.text(path), .integer(delivery.id)], to: Self.writing)
      return path
    }
  }

  /// Records what a destination gave back. The recordings that waited for nothing else are uploaded
  /// in the same transaction.
  package func confirm(
    _ id: Int64, _ confirmation: QueuedDelivery.Confirmation
  ) throws(SpoolError) {
    try transaction { (database) throws(SpoolError) in
      try database.run(
        """
        UPDATE deliveries SET state = 'delivered', upload = NULL, sent_byte_count = byte_count,
          trouble = NULL, confirmed_at = ?, confirmed_byte_count = ?, confirmed_digest = ?,
          identifier = ?
        WHERE id = ?
        """,
        [
          .real(confirmation.at), .integer(Int64(confirmation.byteCount)),
          .text(confirmation.digest.hex), SQLValue(confirmation.identifier), .integer(id),
        ], to: Self.writing)
      try settleRecordings(of: id, in: &database)
    }
  }

  /// Records a failure after which another attempt may succeed.
  /// - Parameters:
  ///   - attempts: of this file so far.
  ///   - trouble: nil if nothing has failed.
  ///   - time: when it is due, in seconds since 1970.
  package func postpone(
    _ id: Int64, after attempts: Int, because trouble: String?, until time: Double
  ) throws(SpoolError) {
    _ = try database.run(
      """
      UPDATE deliveries SET state = CASE state WHEN 'held' THEN 'held' ELSE 'waiting' END,
        attempts = ?, trouble = ?, next_try = ?
      WHERE id = ?
      """, [.integer(Int64(attempts)), SQLValue(trouble), .real(time), .integer(id)],
      to: Self.writing)
  }

  /// Records a failure that only a person can mend. The recordings that require the file have failed
  /// too.
  package func fail(_ id: Int64, because trouble: String) throws(SpoolError) {
    try transaction { (database) throws(SpoolError) in
      try database.run(
        """
        UPDATE deliveries SET state = CASE state WHEN 'held' THEN 'held' ELSE 'failed' END,
          attempts = attempts + 1, trouble = ?, upload = NULL, sent_byte_count = 0
        WHERE id = ?
        """, [.text(trouble), .integer(id)], to: Self.writing)
      try settleRecordings(of: id, in: &database)
    }
  }

  /// Takes up again what a dead process was sending, and settles recordings that wait for nothing any
  /// more, as where a backup was put back. The caller holds the lock. O(recordings that are uploading).
  package func recover() throws(SpoolError) {
    defer { try? removeEncrypted() }
    try transaction { (database) throws(SpoolError) in
      try database.run(
        "UPDATE deliveries SET state = 'waiting' WHERE state = 'uploading'", to: Self.writing)
      let waiting = try RecordingTable.recordings(
        "WHERE state = 'uploading' ORDER BY key", in: &database)
      for recording in waiting { try Self.settle(recording.key, at: now, in: &database) }
    }
  }

  /// Has files tried at once that wait for a later time, or that have failed, as if they were new.
  /// Recordings that failed because of them are processed again, which finds all but the delivery
  /// done.
  /// - Returns: how many there were.
  package func retry(
    ids: [Int64]? = nil, destination: String? = nil
  ) throws(SpoolError) -> Int {
    return try transaction { (database) throws(SpoolError) in
      let rows = try database.run(
        """
        UPDATE deliveries SET attempts = 0, next_try = ?1, trouble = NULL,
          state = CASE WHEN state = 'waiting' OR made_of IS NULL THEN 'waiting' ELSE 'pending' END
        WHERE (state IN ('waiting', 'failed') OR state = 'pending' AND trouble IS NOT NULL)
          AND (?2 IS NULL OR destination = ?2)
          AND (?3 IS NULL OR id IN (SELECT value FROM json_each(?3)))
        RETURNING id, destination
        """, [.real(now), SQLValue(destination), ids.map(SQLValue.list) ?? .null], to: Self.writing)
      let destinations = Set(rows.compactMap { $0[1].text }).union([destination].compactMap(\.self))
      for name in destinations { try Self.release(name, in: &database) }
      for row in rows {
        guard let id = row[0].integer else { continue }
        for key in try Self.recordings(of: id, in: &database)
        where try RecordingTable.recording(key, in: &database)?.state == .failed {
          try RecordingWork(time: now).change(
            key, .retry(reason: "its delivery is tried again"), in: &database)
        }
      }
      return rows.count
    }
  }

  func transaction<Result: Sendable>(
    _ body: @Sendable (inout Database) throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    try database.with { (database) throws(SpoolError) in
      try database.transaction(to: Self.writing, body)
    }
  }
}

extension [DeliveryQueue.Order] {
  /// The name that they give the recording of these rows, if that is another one than in its row.
  fileprivate func recordingName(of rows: [QueuedDelivery]) -> String? {
    guard let row = rows.first(where: \.file.isRecording),
      let order = first(where: { $0.destination == row.destination && $0.file.isRecording })
    else { return nil }
    return ExactText(order.file.name) == ExactText(row.file.name) ? nil : order.file.name
  }
}

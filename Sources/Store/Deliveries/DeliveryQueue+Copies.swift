internal import PipelineModel
package import Platform

/// What destinations have, and what is put back from them.
extension DeliveryQueue {
  /// The originals that destinations have confirmed, each with their names, sorted. O(deliveries).
  package func confirmedOriginals() throws(SpoolError) -> [Digest: [String]] {
    let rows = try database.run(
      """
      SELECT DISTINCT digest, destination FROM deliveries
      WHERE role = 'original' AND state = 'delivered' ORDER BY destination
      """, to: Self.reading)
    return rows.reduce(into: [:]) { found, row in
      if let digest = row[0].text.flatMap(Digest.init(hex:)), let name = row[1].text {
        found[digest, default: []].append(name)
      }
    }
  }

  /// A destination that has confirmed a file with these bytes; nil if none has. O(n).
  package func holder(of digest: Digest) throws(SpoolError) -> String? {
    try database.with { (database) throws(SpoolError) in
      try Self.holder(of: digest, in: &database)
    }
  }

  static func holder(
    of digest: Digest, in database: inout Database
  ) throws(SpoolError) -> String? {
    try database.run(
      "SELECT destination FROM deliveries WHERE digest = ? AND state = 'delivered' LIMIT 1",
      [.text(digest.hex)], to: reading
    ).first?[0].text
  }

  /// Has delivered files sent again, as those that are gone at their destination. What lies there under
  /// their names is not replaced; where it is the file itself, nothing is sent. Recordings that are
  /// uploaded stay so.
  /// - Returns: how many there were.
  package func sendAgain(_ ids: [Int64]) throws(SpoolError) -> Int {
    try transaction { (database) throws(SpoolError) in
      let rows = try database.run(
        """
        UPDATE deliveries SET state = 'waiting', attempts = 0, next_try = ?, trouble = NULL,
          upload = NULL, sent_byte_count = 0
        WHERE state = 'delivered' AND id IN (SELECT value FROM json_each(?))
        RETURNING id
        """, [.real(now), .list(ids)], to: Self.writing)
      return rows.count
    }
  }

  /// Records files as delivered that a destination has given back. Files that are known stay as they are,
  /// but for those that were not delivered. A path that another file of the queue has is left to that.
  static func record(
    _ orders: [Order], confirmedAt time: Double, for owner: DeliveryOwner,
    in database: inout Database
  ) throws(SpoolError) {
    for order in orders {
      let file = order.file
      let taken = try database.run(
        """
        SELECT 1 FROM deliveries WHERE destination = ?1 AND path = ?5
          AND (recording <> ?2 OR name <> ?3 AND NOT ?6 OR digest <> ?4)
        """, order.key + [.text(order.path), .integer(file.isRecording ? 1 : 0)], to: reading)
      guard taken.isEmpty else { continue }
      let id = try insert(order, behind: [], at: time, in: &database)
      try database.run(
        """
        UPDATE deliveries SET state = 'delivered', path = ?, trouble = NULL, upload = NULL,
          sent_byte_count = byte_count, confirmed_at = ?, confirmed_byte_count = byte_count,
          confirmed_digest = digest
        WHERE id = ? AND state <> 'delivered'
        """, [.text(order.path), .real(time), .integer(id)], to: writing)
      if let path = file.path, (try? FileStamp(following: path)) != nil {
        // Where it lay before, it may be no more.
        try database.run(
          "UPDATE deliveries SET file = ? WHERE id = ?", [.text(path), .integer(id)], to: writing)
      }
      try database.run(
        """
        INSERT INTO delivery_owners (owner, delivery, is_required) VALUES (?, ?, ?)
        ON CONFLICT (owner, delivery) DO NOTHING
        """,
        [.text(owner.text), .integer(id), .integer(order.isRequired ? 1 : 0)], to: writing)
    }
  }
}

extension RecordingRepository {
  /// Records a recording that a destination has given back, as uploaded, with the files that it has of it.
  /// Idempotent: a recording of the same bytes and pipeline stays as it is, and learns
  /// this name. O(files · log n).
  /// - Parameters:
  ///   - arrival: what is known of it. Its files lie in no inbox.
  ///   - receivedAt: in seconds since 1970, as is `uploadedAt`.
  ///   - reason: for its history.
  ///   - orders: what the destination has.
  package func restore(
    _ arrival: RecordingArrival, receivedAt: Double, uploadedAt: Double, because reason: String,
    delivered orders: [DeliveryQueue.Order]
  ) throws(SpoolError) -> Recording {
    let companions = arrival.transcripts + [arrival.sidecar].compactMap(\.self)
    for artifact in [arrival.recording] + companions.compactMap(\.artifact) {
      _ = try path(of: artifact)
    }
    let now = now
    return try transaction { (database) throws(SpoolError) in
      let known = try RecordingTable.recordings(
        "WHERE digest = ? AND pipeline = ?",
        [.text(arrival.recording.digest.hex), .text(arrival.pipeline)], in: &database
      ).first
      let recording: Recording
      if let known {
        recording = known
        try Self.addName(of: arrival, to: known, in: &database)
      } else {
        recording = try Self.restored(
          arrival, receivedAt: receivedAt, uploadedAt: uploadedAt, in: &database)
        try RecordingTable.write(recording, event: reason, owner: nil, to: &database)
        for (role, file) in Self.files(of: arrival) {
          try RecordingFileTable.add(
            role, path: file.path, stamp: file.stamp,
            digest: role == .recording ? nil : file.artifact?.digest, inbox: arrival.inbox,
            place: .gone, to: recording.key, in: &database)
        }
      }
      try DeliveryQueue.record(
        orders, confirmedAt: now, for: .recording(recording.key), in: &database)
      return recording
    }
  }

  /// Records that the same bytes came by another name too.
  private static func addName(
    of arrival: RecordingArrival, to known: Recording, in database: inout Database
  ) throws(SpoolError) {
    let files = try RecordingFileTable.files(
      "WHERE note = ? AND role = 'recording' AND path = ?",
      [.text(known.key.name), .text(arrival.path)], in: &database)
    guard files.isEmpty else { return }
    try RecordingFileTable.add(
      .recording, path: arrival.path, stamp: arrival.stamp, inbox: arrival.inbox, place: .gone,
      to: known.key, in: &database)
  }

  private static func files(
    of arrival: RecordingArrival
  ) -> [(RecordingFile.Role, RecordingArrival.Companion)] {
    let own = RecordingArrival.Companion(
      path: arrival.path, stamp: arrival.stamp, artifact: arrival.recording)
    return [(.recording, own)] + (arrival.sidecar.map { [(.sidecar, $0)] } ?? [])
      + arrival.transcripts.map { (.transcript, $0) }
  }

  private static func restored(
    _ arrival: RecordingArrival, receivedAt: Double, uploadedAt: Double,
    in database: inout Database
  ) throws(SpoolError) -> Recording {
    let key = try RecordingTable.freeKey(
      for: arrival.recording.digest, pipeline: arrival.pipeline, in: &database)
    // Another recording may have the identity, which stays with its first owner.
    let id = try arrival.deviceID.flatMap { (id) throws(SpoolError) -> String? in
      let isFree =
        try RecordingAdmitter.recording(
          deviceID: id, pipeline: arrival.pipeline, in: &database) == nil
      return isFree && id != key.name ? id : nil
    }
    let name = id == nil ? nil : arrival.deviceName
    var recording = Recording(
      key: key, pipeline: arrival.pipeline, inbox: arrival.inbox, fileName: arrival.fileName,
      content: arrival.recording, receivedAt: receivedAt,
      acknowledgementName: name ?? id ?? key.name, deviceID: id, state: .uploaded)
    recording.deviceName = name
    recording.sidecar = arrival.sidecar?.artifact
    recording.facts = arrival.facts
    recording.title = arrival.title
    recording.tags = arrival.tags
    (recording.acceptedAt, recording.uploadedAt) = (uploadedAt, uploadedAt)
    (recording.stateSince, recording.changedAt) = (uploadedAt, uploadedAt)
    return recording
  }
}

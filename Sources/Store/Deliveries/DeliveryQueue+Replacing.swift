internal import PipelineModel
package import Platform

/// Files that are replaced before they are sent, as by a run with another setting while a destination
/// is away. Their earlier bytes lie nowhere any more, or where nothing lists them.
extension DeliveryQueue {
  /// Takes out of the queue what a list of files replaces, and the documents about that. What is being
  /// sent stays, and what a part of lies at its destination, and what was there before and is to be sent
  /// again. O(files of the recordings).
  /// - Returns: the recordings that required any of it, by destination.
  static func withdraw(
    replacedBy orders: [Order], in database: inout Database
  ) throws(SpoolError) -> [String: Set<RecordingKey>] {
    var (replaced, unchanged): ([String: [Int64]], [String: [Int64]]) = ([:], [:])
    for order in orders where order.about == nil {
      guard let path = order.file.path, let recording = order.file.recording else { continue }
      let rows = try database.run(
        """
        SELECT id, file = ?3 AND digest = ?4 FROM deliveries
        WHERE destination = ?1 AND recording = ?2 AND file IN (?3, ?5)
          AND state NOT IN ('delivered', 'uploading') AND confirmed_at IS NULL AND upload IS NULL
        """,
        [
          .text(order.destination), .text(recording.hex), .text(path), .text(order.file.digest.hex),
          SQLValue(ownPath(of: path)),
        ], to: reading)
      for row in rows {
        guard let id = row[0].integer else { continue }
        if row[1].integer == 1 {
          unchanged[order.destination, default: []].append(id)
        } else {
          replaced[order.destination, default: []].append(id)
        }
      }
    }
    // The files of a version lie together: those that are as they were are queued once more with it.
    for (destination, ids) in unchanged where replaced[destination] != nil {
      replaced[destination, default: []] += ids
    }
    var waiting: [String: Set<RecordingKey>] = [:]
    for (destination, ids) in replaced where !ids.isEmpty {
      waiting[destination] = try withdraw(ids, in: &database)
    }
    return waiting
  }

  /// Takes a file that cannot be sent out of the queue if later bytes of it are there. What required it
  /// requires those.
  /// - Returns: whether it was taken out.
  package func withdrawReplaced(_ id: Int64) throws(SpoolError) -> Bool {
    try transaction { (database) throws(SpoolError) in
      let rows = try database.run(
        """
        SELECT later.id FROM deliveries AS own JOIN deliveries AS later
          ON later.destination = own.destination AND later.recording = own.recording
            AND later.file = own.file AND later.digest <> own.digest AND later.id > own.id
        WHERE own.id = ? AND own.recording <> '' AND own.confirmed_at IS NULL ORDER BY later.id DESC LIMIT 1
        """, [.integer(id)], to: Self.reading)
      guard let later = rows.first?[0].integer else { return false }
      let documents = try Self.documents(about: [later], in: &database).filter {
        $0.content == .metadata
      }
      let keys = try Self.withdraw([id], in: &database)
      try require([later] + documents.map(\.id), for: keys, in: &database)
      return true
    }
  }

  /// The path of the captions in whose place others were written, since a person has edited them:
  /// `talk.srt` of `talk.spool.srt` and `talk.spool-2.srt`. Nil for other files.
  private static func ownPath(of path: String) -> String? {
    guard let point = path.lastIndex(of: "."),
      let mark = path[..<point].ranges(of: ".spool").last
    else { return nil }
    let number = path[mark.upperBound..<point]
    let isNumber = number.first == "-" && Int(number.dropFirst()) != nil
    return number.isEmpty || isNumber ? String(path[..<mark.lowerBound] + path[point...]) : nil
  }

  /// Has recordings wait for files too, which may be there already.
  func require(
    _ ids: [Int64], for keys: Set<RecordingKey>, in database: inout Database
  ) throws(SpoolError) {
    for key in keys {
      for id in ids {
        try Self.add(id, for: .recording(key), isRequired: true, in: &database)
      }
      try Self.settle(key, at: now, in: &database)
    }
  }

  /// Removes rows, and the documents about them that are not delivered.
  /// - Returns: the recordings that required any of them.
  private static func withdraw(
    _ ids: [Int64], in database: inout Database
  ) throws(SpoolError) -> Set<RecordingKey> {
    let documents = try documents(about: ids, in: &database).filter {
      ![.delivered, .uploading].contains($0.state)
    }
    let list = SQLValue.list(ids + documents.map(\.id))
    let owners = try database.run(
      """
      DELETE FROM delivery_owners WHERE delivery IN (SELECT value FROM json_each(?))
      RETURNING owner, is_required
      """, [list], to: writing)
    try database.run(
      "DELETE FROM deliveries WHERE id IN (SELECT value FROM json_each(?))", [list], to: writing)
    return Set(
      owners.compactMap { row in
        guard row[1].integer == 1,
          case .recording(let key)? = row[0].text.flatMap(DeliveryOwner.init)
        else { return nil }
        return key
      })
  }

  /// The documents about any of these files. O(documents of their recordings).
  private static func documents(
    about ids: [Int64], in database: inout Database
  ) throws(SpoolError) -> [(
    id: Int64, content: DeliveryRequest.Content, state: QueuedDelivery.State
  )] {
    try database.run(
      """
      SELECT id, role, state FROM deliveries
      WHERE made_of IS NOT NULL AND (destination, recording) IN (
          SELECT destination, recording FROM deliveries
          WHERE id IN (SELECT value FROM json_each(?1)))
        AND EXISTS (SELECT 1 FROM json_each(made_of, '$.parts') AS part
          WHERE part.value IN (SELECT value FROM json_each(?1)))
      """, [.list(ids)], to: reading
    ).compactMap { row in
      guard let id = row[0].integer,
        let content = row[1].text.flatMap(DeliveryRequest.Content.init(rawValue:)),
        let state = row[2].text.flatMap(QueuedDelivery.State.init(rawValue:))
      else { return nil }
      return (id, content, state)
    }
  }
}

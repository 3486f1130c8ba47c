internal import PipelineModel
package import Platform

/// Files of sensitive recordings, which a person has to release.
extension DeliveryQueue {
  /// Holds what is on its way for a run or a recording that has turned out to be sensitive, until a
  /// person releases it: all that is neither delivered nor was released before. What is being sent stops
  /// within some seconds.
  /// - Returns: how many there were.
  package func hold(for owner: DeliveryOwner) throws(SpoolError) -> Int {
    try transaction { (database) throws(SpoolError) in
      try Self.hold(for: owner, in: &database)
    }
  }

  /// The condition for the files of a run or a recording and, since these are the same recordings, of
  /// all other runs of them. Its value is the owner's text.
  private static let ofItsRecordings = """
    (id IN (SELECT delivery FROM delivery_owners WHERE owner = ?1)
      OR recording IN (SELECT own.recording FROM deliveries AS own
        JOIN delivery_owners ON delivery = own.id WHERE owner = ?1 AND own.recording <> ''))
    """

  static func hold(
    for owner: DeliveryOwner, in database: inout Database
  ) throws(SpoolError) -> Int {
    try database.run(
      """
      UPDATE deliveries SET state = 'held' WHERE \(ofItsRecordings)
        AND state NOT IN ('held', 'delivered')
        AND json_extract(facts, '$.\(QueuedDelivery.File.released)') IS NULL
      RETURNING 1
      """, [.text(owner.text)], to: writing
    ).count
  }

  /// Whether files of any of these recordings are held: the same bytes or samples are as sensitive by
  /// another name and in another container, whatever lies beside them. O(destinations · log n + files that are held).
  static func isHeld(
    anyOf orders: [Order], in database: inout Database
  ) throws(SpoolError) -> Bool {
    let recordings = Set(orders.compactMap { $0.file.recording?.hex })
    let sounds = Set(orders.flatMap { $0.file.sounds })
    return try !database.run(
      """
      WITH RECURSIVE place (name) AS (
        SELECT min(destination) FROM deliveries
        UNION ALL
        SELECT (SELECT min(destination) FROM deliveries WHERE destination > place.name) FROM place
          WHERE place.name IS NOT NULL)
      SELECT 1 FROM place JOIN deliveries ON destination = place.name AND state = 'held'
      WHERE recording IN (SELECT value FROM json_each(?1)) OR EXISTS (
        SELECT 1 FROM json_each(?2)
          WHERE instr(json_extract(facts, '$.\(QueuedDelivery.File.sounds)'), value) > 0)
      LIMIT 1
      """, [.list(recordings), .list(sounds)],
      to: reading
    ).isEmpty
  }

  /// Has the files sent that are held for a run or a recording, and for other runs of that, and documents
  /// made.
  /// - Returns: how many there were.
  package func release(heldFor owners: [DeliveryOwner]) throws(SpoolError) -> Int {
    try transaction { (database) throws(SpoolError) in
      var count = 0
      for owner in owners {
        count += try database.run(
          """
          UPDATE deliveries SET next_try = ?2,
            state = CASE WHEN made_of IS NULL THEN 'waiting' ELSE 'pending' END,
            facts = json_set(facts, '$.\(QueuedDelivery.File.released)', 'true')
          WHERE state = 'held' AND \(Self.ofItsRecordings)
          RETURNING 1
          """, [.text(owner.text), .real(now)], to: Self.writing
        ).count
      }
      return count
    }
  }
}

extension QueuedDelivery.File {
  /// The digests of the decoded samples that it was made of, in hexadecimal digits.
  fileprivate var sounds: [String] {
    let all = Array((facts[Self.sounds] ?? "").utf8)
    return stride(from: 0, to: all.count, by: 64).map {
      String(decoding: all[$0..<min($0 + 64, all.count)], as: UTF8.self)
    }
  }
}

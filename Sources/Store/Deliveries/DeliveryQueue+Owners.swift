internal import PipelineModel
package import Platform

/// The runs and recordings that wait for deliveries.
extension DeliveryQueue {
  /// Who waits for each of these deliveries. O(n log n).
  package func owners(of ids: [Int64]) throws(SpoolError) -> [Int64: [DeliveryOwner]] {
    let rows = try database.run(
      """
      SELECT delivery, owner FROM delivery_owners
      WHERE delivery IN (SELECT value FROM json_each(?)) ORDER BY delivery, owner
      """, [.list(ids)], to: Self.reading)
    return rows.reduce(into: [:]) { owners, row in
      if let id = row[0].integer, let owner = row[1].text.flatMap(DeliveryOwner.init) {
        owners[id, default: []].append(owner)
      }
    }
  }

  /// The destinations that get files of a recording, in order. O(its files).
  package func destinations(of key: RecordingKey) throws(SpoolError) -> [String] {
    try database.run(
      """
      SELECT DISTINCT destination FROM delivery_owners JOIN deliveries ON id = delivery
      WHERE owner = ? ORDER BY destination
      """, [.text(DeliveryOwner.recording(key).text)], to: Self.reading
    ).compactMap { $0[0].text }
  }

  /// Has a run or a recording wait for a delivery.
  static func add(
    _ id: Int64, for owner: DeliveryOwner, isRequired: Bool, in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      """
      INSERT INTO delivery_owners (owner, delivery, is_required) VALUES (?, ?, ?)
      ON CONFLICT (owner, delivery) DO UPDATE SET is_required = max(is_required, excluded.is_required)
      """, [.text(owner.text), .integer(id), .integer(isRequired ? 1 : 0)], to: writing)
  }

  /// The recordings that wait for a delivery.
  static func recordings(
    of id: Int64, in database: inout Database
  ) throws(SpoolError) -> [RecordingKey] {
    try database.run(
      "SELECT owner FROM delivery_owners WHERE delivery = ?", [.integer(id)], to: reading
    ).compactMap { row in
      if case .recording(let key)? = row[0].text.flatMap(DeliveryOwner.init) { key } else { nil }
    }
  }

  /// Settles the recordings that wait for a delivery.
  func settleRecordings(of id: Int64, in database: inout Database) throws(SpoolError) {
    for key in try Self.recordings(of: id, in: &database) {
      try Self.settle(key, at: now, in: &database)
    }
  }

  /// Ends the upload of a recording if nothing that it requires is on its way any more.
  static func settle(
    _ key: RecordingKey, at now: Double, in database: inout Database
  ) throws(SpoolError) {
    guard let recording = try RecordingTable.recording(key, in: &database),
      recording.state == .uploading
    else { return }
    let rows = try required(by: key, in: &database)
    let work = RecordingWork(time: now)
    if rows.isEmpty {
      try work.change(
        key, .putBack(reason: "what was to be delivered of it is not known any more"), in: &database
      )
    } else if let failed = rows.first(where: { $0.state == .failed }) {
      let reason =
        "\(failed.destination) cannot get \(failed.name): \(failed.trouble ?? "it failed")"
      try work.change(
        key, .fail(reason: reason, nextAttempt: nil, isCounted: true), in: &database)
    } else if rows.allSatisfy({ $0.state == .delivered }) {
      try work.change(key, .finish(reason: nil), in: &database)
    }
  }

  private typealias Requirement = (
    destination: String, name: String, state: QueuedDelivery.State, trouble: String?
  )

  private static func required(
    by key: RecordingKey, in database: inout Database
  ) throws(SpoolError) -> [Requirement] {
    try database.run(
      """
      SELECT destination, name, state, trouble FROM delivery_owners JOIN deliveries ON id = delivery
      WHERE owner = ? AND is_required = 1 ORDER BY id
      """, [.text(DeliveryOwner.recording(key).text)], to: reading
    ).compactMap { row in
      guard let destination = row[0].text, let name = row[1].text,
        let state = row[2].text.flatMap(QueuedDelivery.State.init(rawValue:))
      else { return nil }
      return (destination, name, state, row[3].text)
    }
  }

  /// Whether a recording requires deliveries that are not confirmed.
  static func isAwaited(
    by key: RecordingKey, in database: inout Database
  ) throws(SpoolError) -> Bool {
    try required(by: key, in: &database).contains { $0.state != .delivered }
  }

  /// Has a forgotten recording wait for nothing. What is queued is sent all the same.
  static func forget(_ key: RecordingKey, in database: inout Database) throws(SpoolError) {
    try database.run(
      "DELETE FROM delivery_owners WHERE owner = ?", [.text(DeliveryOwner.recording(key).text)],
      to: writing)
  }
}

package import Platform

/// How destinations stand.
extension DeliveryQueue {
  /// The destinations that a user has paused or that are held, by name.
  package func destinations() throws(SpoolError) -> [String: DestinationState] {
    let rows = try database.run(
      "SELECT name, is_paused, failures, held_until, trouble FROM destinations", to: Self.reading)
    return rows.reduce(into: [:]) { states, row in
      guard let name = row[0].text else { return }
      var state = DestinationState(name: name)
      state.isPaused = row[1].integer == 1
      state.failures = Int(row[2].integer ?? 0)
      state.heldUntil = row[3].real
      state.trouble = row[4].text
      states[name] = state
    }
  }

  /// The files of destinations that named those to which files wait to be sent, or cannot be, in order;
  /// nil stands for one that is unknown. O(n).
  package func settings() throws(SpoolError) -> [String?] {
    try database.run(
      """
      SELECT DISTINCT json_extract(facts, '$.\(QueuedDelivery.File.settings)') FROM deliveries
      WHERE state IN ('waiting', 'uploading', 'failed', 'pending') ORDER BY 1
      """, to: Self.reading
    ).map { $0[0].text }
  }

  /// Calls `body` under mutual exclusion of processes and threads: one process sends at a time.
  /// - Returns: false, without a call, if the lock is held.
  package func whileSending(
    _ body: () throws(SpoolError) -> Void
  ) throws(SpoolError) -> Bool {
    let answer = try doing("lock", lock) { () throws(SystemError) in
      try WorkLock.take(lock, files: files)
    }
    guard case .taken(let lock) = answer else { return false }
    defer { lock.release() }
    try body()
    return true
  }

  /// Whether a process sends what is queued.
  package func isSending() throws(SpoolError) -> Bool { try !whileSending {} }

  /// Holds all files of a destination that fails itself.
  /// - Parameters:
  ///   - failures: in a row so far.
  ///   - time: when it is looked at again, in seconds since 1970.
  package func hold(
    _ name: String, after failures: Int, because trouble: String, until time: Double
  ) throws(SpoolError) {
    _ = try database.run(
      """
      INSERT INTO destinations (name, is_paused, failures, held_until, trouble)
      VALUES (?, 0, ?, ?, ?)
      ON CONFLICT (name) DO UPDATE
        SET failures = excluded.failures, held_until = excluded.held_until, trouble = excluded.trouble
      """, [.text(name), .integer(Int64(failures)), .real(time), .text(trouble)], to: Self.writing)
  }

  /// Has a destination and all that waits for it tried at once, as when the network is back. Attempts
  /// still count.
  package func wake(_ name: String) throws(SpoolError) {
    try transaction { (database) throws(SpoolError) in
      try lookNow(at: name, in: &database)
      try database.run(
        """
        UPDATE deliveries SET next_try = ?
        WHERE destination = ? AND state = 'waiting' AND next_try > ?
        """, [.real(now), .text(name), .real(now)], to: Self.writing)
    }
  }

  /// Has a destination looked at at once that is held. Its files keep their times.
  package func lookNow(at name: String) throws(SpoolError) {
    try transaction { (database) throws(SpoolError) in try lookNow(at: name, in: &database) }
  }

  private func lookNow(at name: String, in database: inout Database) throws(SpoolError) {
    try database.run(
      "UPDATE destinations SET held_until = ? WHERE name = ? AND held_until > ?",
      [.real(now), .text(name), .real(now)], to: Self.writing)
  }

  /// Records that a destination works again.
  package func release(_ name: String) throws(SpoolError) {
    try transaction { (database) throws(SpoolError) in
      try Self.release(name, in: &database)
    }
  }

  static func release(_ name: String, in database: inout Database) throws(SpoolError) {
    try database.run(
      "UPDATE destinations SET failures = 0, held_until = NULL, trouble = NULL WHERE name = ?",
      [.text(name)], to: writing)
    try database.run(
      "DELETE FROM destinations WHERE name = ? AND is_paused = 0", [.text(name)], to: writing)
  }

  /// Pauses a destination until it is resumed, or resumes it.
  package func pause(_ name: String, _ isPaused: Bool) throws(SpoolError) {
    try transaction { (database) throws(SpoolError) in
      try database.run(
        """
        INSERT INTO destinations (name, is_paused, failures) VALUES (?, ?, 0)
        ON CONFLICT (name) DO UPDATE SET is_paused = excluded.is_paused
        """, [.text(name), .integer(isPaused ? 1 : 0)], to: Self.writing)
      if !isPaused { try Self.release(name, in: &database) }
    }
  }
}

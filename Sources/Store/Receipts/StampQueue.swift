internal import FoundationEssentials
package import PipelineModel
package import Platform

/// The queue of pending time stamps. Every method may be called from any thread and is durable on
/// return.
package struct StampQueue: Sendable {
  let database: SharedDatabase
  /// The path of the lock of the one round at a time.
  let lock: String
  let files: FileOperations

  private static let reading = "read awaited time stamps in"
  private static let writing = "record awaited time stamps in"

  /// Queues time stamps, idempotently, one per receipt and authority. Drops those of other receipts
  /// at the same path, which were replaced.
  package func add(_ stamps: [AwaitedStamp]) throws(SpoolError) {
    if stamps.isEmpty { return }
    try database.with { (database) throws(SpoolError) in
      try database.transaction(to: Self.writing) { (database) throws(SpoolError) in
        for stamp in stamps {
          try database.run(
            "DELETE FROM awaited_stamps WHERE path = ? AND receipt <> ?",
            [.text(stamp.path), .text(stamp.receipt.hex)], to: Self.writing)
          try database.run(
            """
            INSERT INTO awaited_stamps
              (receipt, authority, certificates, path, token, since, attempts, next_attempt)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?6)
            ON CONFLICT (receipt, authority) DO UPDATE
              SET certificates = ?3, path = ?4, token = ?5, next_attempt = min(next_attempt, ?6)
            """,
            [
              .text(stamp.receipt.hex), .text(stamp.authority.url),
              .text(stamp.authority.certificates), .text(stamp.path), .text(stamp.token),
              .real(stamp.since),
            ], to: Self.writing)
        }
      }
    }
  }

  /// All pending stamps, by due time. O(n).
  package func awaited() throws(SpoolError) -> [AwaitedStamp] {
    try database.run(
      """
      SELECT receipt, authority, certificates, path, token, since, attempts, next_attempt,
        trouble, reply
      FROM awaited_stamps ORDER BY next_attempt, since, path, token
      """, to: Self.reading
    ).compactMap(Self.stamp)
  }

  /// When the next one is due, in seconds since 1970; nil if none is pending.
  package func nextAttempt() throws(SpoolError) -> Double? {
    try database.run("SELECT min(next_attempt) FROM awaited_stamps", to: Self.reading)
      .first?.first?.real
  }

  /// Stores an authority's reply until it is at its path.
  /// - Returns: false if the stamp is no longer pending.
  package func keep(_ reply: [UInt8], for stamp: AwaitedStamp) throws(SpoolError) -> Bool {
    try !database.run(
      """
      UPDATE awaited_stamps SET reply = ?, trouble = NULL
      WHERE receipt = ? AND authority = ? RETURNING 1
      """, [.text(Data(reply).base64EncodedString())] + Self.key(stamp), to: Self.writing
    ).isEmpty
  }

  /// Records a failed attempt.
  /// - Parameters:
  ///   - attempts: attempts so far.
  ///   - attempt: when it is due next, in seconds since 1970.
  ///   - isForAll: whether all other pending stamps of the same authority are postponed too.
  package func postpone(
    _ stamp: AwaitedStamp, after attempts: Int, because trouble: String, until attempt: Double,
    isForAll: Bool
  ) throws(SpoolError) {
    try database.with { (database) throws(SpoolError) in
      try database.transaction(to: Self.writing) { (database) throws(SpoolError) in
        if isForAll {
          try database.run(
            """
            UPDATE awaited_stamps SET next_attempt = max(next_attempt, ?), trouble = ?
            WHERE authority = ? AND reply IS NULL
            """, [.real(attempt), .text(trouble), .text(stamp.authority.url)], to: Self.writing)
        }
        try database.run(
          """
          UPDATE awaited_stamps SET attempts = ?, next_attempt = ?, trouble = ?
          WHERE receipt = ? AND authority = ?
          """, [.integer(Int64(attempts)), .real(attempt), .text(trouble)] + Self.key(stamp),
          to: Self.writing)
      }
    }
  }

  /// Removes a stamp whose reply is in place.
  package func settle(_ stamp: AwaitedStamp) throws(SpoolError) {
    _ = try database.run(
      "DELETE FROM awaited_stamps WHERE receipt = ? AND authority = ?", Self.key(stamp),
      to: Self.writing)
  }

  /// Removes the pending stamps of the receipt at an absolute path.
  /// - Returns: how many there were.
  package func forget(ofReceipt path: String) throws(SpoolError) -> Int {
    let path = FilePath.absolute(path)
    return try database.run(
      "DELETE FROM awaited_stamps WHERE path = ? RETURNING 1", [.text(path)], to: Self.writing
    ).count
  }

  /// Calls `body` under mutual exclusion of processes and threads.
  /// - Returns: false, without a call, if the lock is held.
  package func whileStamping(_ body: () -> Void) throws(SpoolError) -> Bool {
    let answer = try doing("lock", lock) { () throws(SystemError) in
      try WorkLock.take(lock, files: files)
    }
    guard case .taken(let lock) = answer else { return false }
    defer { lock.release() }
    body()
    return true
  }

  private static func key(_ stamp: AwaitedStamp) -> [SQLValue] {
    [.text(stamp.receipt.hex), .text(stamp.authority.url)]
  }

  private static func stamp(_ row: SQLRow) -> AwaitedStamp? {
    guard let receipt = row[0].text.flatMap(Digest.init(hex:)), let url = row[1].text,
      let certificates = row[2].text, let path = row[3].text, let token = row[4].text,
      let since = row[5].real, let attempts = row[6].integer, let next = row[7].real
    else { return nil }
    var stamp = AwaitedStamp(
      receipt: receipt, path: path,
      authority: TimeStampAuthority(url: url, certificates: certificates), token: token,
      since: since)
    stamp.attempts = Int(attempts)
    stamp.nextAttempt = next
    stamp.trouble = row[8].text
    stamp.reply = row[9].text.flatMap { Data(base64Encoded: $0) }.map { Array($0) }
    return stamp
  }
}

/// A time stamp that a receipt waits for.
package struct AwaitedStamp: Hashable, Sendable {
  /// The message imprint: the SHA-256 of the receipt.
  package let receipt: Digest
  /// The receipt's absolute path.
  package let path: String
  package let authority: TimeStampAuthority
  /// The absolute path for the reply.
  package let token: String
  /// When it was queued, in seconds since 1970.
  package let since: Double
  /// Attempts so far.
  package var attempts = 0
  /// When it is due, in seconds since 1970.
  package var nextAttempt: Double
  /// The last failure; nil before the first attempt.
  package var trouble: String?
  /// The verified reply that is not at its path yet.
  package var reply: [UInt8]?

  package init(
    receipt: Digest, path: String, authority: TimeStampAuthority, token: String, since: Double
  ) {
    self.receipt = receipt
    self.path = path
    self.authority = authority
    self.token = token
    self.since = since
    nextAttempt = since
  }
}

internal import FoundationEssentials
internal import Hashing
public import PipelineModel

extension DiskStore: StampQueue {
  private static let reading = "read awaited time stamps in"
  private static let writing = "record awaited time stamps in"

  /// Notes that receipts wait, once for each receipt and authority, and drops what waits for another
  /// receipt at the same path.
  public func awaitStamps(_ stamps: [AwaitedStamp]) throws(StoreError) {
    if stamps.isEmpty { return }
    try withDatabase { (database) throws(StoreError) in
      try database.transaction(to: Self.writing) { (database) throws(StoreError) in
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

  /// All that wait, those that are due first at the front. O(n).
  public func awaitedStamps() throws(StoreError) -> [AwaitedStamp] {
    try withDatabase { (database) throws(StoreError) in
      try database.run(
        """
        SELECT receipt, authority, certificates, path, token, since, attempts, next_attempt,
          trouble, reply
        FROM awaited_stamps ORDER BY next_attempt, since, path, token
        """, to: Self.reading
      ).compactMap(Self.stamp)
    }
  }

  /// When the next one is due, in seconds since 1970.
  public func nextStampAttempt() throws(StoreError) -> Double? {
    try withDatabase { (database) throws(StoreError) in
      try database.run("SELECT min(next_attempt) FROM awaited_stamps", to: Self.reading)
        .first?.first?.real
    }
  }

  /// Keeps an authority's answer. - Returns: false where the stamp does not wait any more.
  public func keep(_ reply: [UInt8], for stamp: AwaitedStamp) throws(StoreError) -> Bool {
    try withDatabase { (database) throws(StoreError) in
      try !database.run(
        """
        UPDATE awaited_stamps SET reply = ?, trouble = NULL
        WHERE receipt = ? AND authority = ? RETURNING 1
        """, [.text(Data(reply).base64EncodedString())] + Self.key(stamp), to: Self.writing
      ).isEmpty
    }
  }

  /// Notes that an attempt came to nothing; where `isForAll`, the others that want an answer of the
  /// same authority wait as long.
  public func postpone(
    _ stamp: AwaitedStamp, after attempts: Int, because trouble: String, until attempt: Double,
    isForAll: Bool
  ) throws(StoreError) {
    try withDatabase { (database) throws(StoreError) in
      try database.transaction(to: Self.writing) { (database) throws(StoreError) in
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

  /// Strikes one whose answer is in its place.
  public func settle(_ stamp: AwaitedStamp) throws(StoreError) {
    try withDatabase { (database) throws(StoreError) in
      _ = try database.run(
        "DELETE FROM awaited_stamps WHERE receipt = ? AND authority = ?", Self.key(stamp),
        to: Self.writing)
    }
  }

  /// Drops all that waits for the receipt at a path. - Returns: how many there were.
  public func forgetStamps(ofReceipt path: String) throws(StoreError) -> Int {
    let path = FilePath.absolute(path)
    return try withDatabase { (database) throws(StoreError) in
      try database.run(
        "DELETE FROM awaited_stamps WHERE path = ? RETURNING 1", [.text(path)], to: Self.writing
      ).count
    }
  }

  /// Calls `body` with the lock of the store's stamping, which the system gives back when its holder
  /// dies. - Returns: false where somebody else has it.
  public func whileStamping(_ body: () -> Void) throws(StoreError) -> Bool {
    let path = layout.stamping
    let answer = try doing("lock", path) { () throws(SystemError) in
      try WorkLock.take(path, files: files)
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

import Glibc
internal import Hashing

extension FileOperations {
  /// How much of a file is read at a time.
  static let pieceByteCount = 1 << 20

  /// The digest of a file's bytes from first to last, and how many there were.
  func digest(of file: borrowing OpenFile) throws(SystemError) -> (digest: Digest, byteCount: Int64)
  {
    var byteCount: Int64 = 0
    let hash = try hash(of: file, upTo: .max, byteCount: &byteCount)
    return (hash.finalize(), byteCount)
  }

  /// The running digest of a file's first bytes, `limit` of them or as many as there are.
  func hash(of file: borrowing OpenFile, upTo limit: Int64) throws(SystemError) -> SHA256 {
    var byteCount: Int64 = 0
    return try hash(of: file, upTo: limit, byteCount: &byteCount)
  }

  private func hash(
    of file: borrowing OpenFile, upTo limit: Int64, byteCount: inout Int64
  ) throws(SystemError) -> SHA256 {
    var hash = SHA256()
    var piece = [UInt8](repeating: 0, count: Self.pieceByteCount)
    _ = posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
    while byteCount < limit {
      let count = Int(
        min(limit - byteCount, Int64(try read(into: &piece, from: file, at: byteCount))))
      if count == 0 { break }
      unsafe piece.span.bytes.extracting(..<count).withUnsafeBytes { unsafe hash.update($0) }
      byteCount += Int64(count)
    }
    return hash
  }

  /// Whether two files hold the same bytes.
  func haveSameBytes(_ a: borrowing OpenFile, _ b: borrowing OpenFile) throws(SystemError) -> Bool {
    guard try a.stamp.byteCount == b.stamp.byteCount else { return false }
    return try digest(of: a).digest == digest(of: b).digest
  }
}

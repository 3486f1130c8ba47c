import Glibc

/// Whole files, and their digests.
extension FileOperations {
  /// Bytes per read.
  package static let pieceByteCount = 1 << 20

  /// The first bytes of a regular file, at most `limit`; none of another. Follows no link.
  package func bytes(of path: String, limit: Int64 = .max) throws(SystemError) -> [UInt8] {
    let file = try open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    let stamp = try file.stamp
    try willPerform(.read(path))
    return try file.bytes(stamp.isRegularFile ? Int(min(stamp.byteCount, limit)) : 0)
  }

  /// A file's first bytes, at most so many; symbolic links are followed.
  package func beginning(of path: String, byteCount: Int) throws(SystemError) -> [UInt8] {
    let file = try open(path, O_RDONLY | O_NONBLOCK)
    try willPerform(.read(path))
    return try file.bytes(byteCount)
  }

  /// All bytes of a file, whatever leads to it and whatever kind it is of: also of a pipe, or of a
  /// file of unknown length in /proc. No operation of a store: no crash point.
  /// - Parameter limit: beyond so many, not all are read.
  package func bytes(following path: String, limit: Int = .max) throws(SystemError) -> [UInt8] {
    try willPerform(.read(path))
    // Opening a named pipe must not wait for a writer; without one, it is empty.
    let file = try OpenFile(path, O_RDONLY | O_NONBLOCK)
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= limit {
      try willPerform(.read(path))
      let count = unsafe Glibc.read(file.descriptor, &piece, piece.count)
      if count == 0 { return bytes }
      if count > 0 {
        bytes += piece[..<count]
      } else if errno == EAGAIN {
        // A writer has the pipe open, and has written nothing yet.
        var state = pollfd(fd: file.descriptor, events: Int16(POLLIN), revents: 0)
        try SystemError.check { unsafe poll(&state, 1, -1) }
      } else if errno != EINTR {
        throw .last
      }
    }
    return bytes
  }

  /// The digest and the length of a file.
  /// - Parameter took: is called with the number of bytes of each read; false ends the reading.
  package func digest(
    of file: borrowing OpenFile, took: (Int) -> Bool = { _ in true }
  ) throws(SystemError) -> (digest: Digest, byteCount: Int64) {
    var byteCount: Int64 = 0
    let hash = try hash(of: file, upTo: .max, byteCount: &byteCount, took)
    return (hash.finalize(), byteCount)
  }

  /// The running hash of a file's first bytes, at most `limit`.
  package func hash(of file: borrowing OpenFile, upTo limit: Int64) throws(SystemError) -> SHA256 {
    var byteCount: Int64 = 0
    return try hash(of: file, upTo: limit, byteCount: &byteCount) { _ in true }
  }

  private func hash(
    of file: borrowing OpenFile, upTo limit: Int64, byteCount: inout Int64, _ took: (Int) -> Bool
  ) throws(SystemError) -> SHA256 {
    var hash = SHA256()
    var piece = [UInt8](repeating: 0, count: Self.pieceByteCount)
    file.expectSequentialReading()
    while byteCount < limit {
      let count = Int(
        min(limit - byteCount, Int64(try read(into: &piece, from: file, at: byteCount))))
      if count == 0 { break }
      unsafe piece.span.bytes.extracting(..<count).withUnsafeBytes { unsafe hash.update($0) }
      byteCount += Int64(count)
      guard took(count) else { break }
    }
    return hash
  }

  package func haveSameBytes(_ a: borrowing OpenFile, _ b: borrowing OpenFile) throws(SystemError)
    -> Bool
  {
    guard try a.stamp.byteCount == b.stamp.byteCount else { return false }
    return try digest(of: a).digest == digest(of: b).digest
  }
}

package enum SmallFile {
  /// The text of a file of unknown length, as in /proc; nil if it cannot be read.
  package static func text(at path: String) -> String? {
    (try? FileOperations.system.bytes(following: path)).map { String(decoding: $0, as: UTF8.self) }
  }
}

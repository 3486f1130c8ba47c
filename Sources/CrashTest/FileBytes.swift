import Glibc
internal import Hashing

/// The bytes of a file, read piece by piece.
struct FileBytes: ~Copyable {
  private static let pieceByteCount = 1 << 20
  private let descriptor: Int32
  private let path: String

  init(of path: String) throws(CrashTestError) {
    self.path = path
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw .system("read", path) }
  }

  deinit { close(descriptor) }

  /// The next piece; empty at the end. All pieces but the last have the same length.
  func next() throws(CrashTestError) -> [UInt8] {
    var piece = [UInt8](repeating: 0, count: Self.pieceByteCount)
    var count = 0
    while count < piece.count {
      let room = piece.count - count
      let read = unsafe piece.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress?.advanced(by: count), room)
      }
      if read == 0 { break }
      if read > 0 {
        count += read
      } else if errno != EINTR {
        throw .system("read", path)
      }
    }
    return Array(piece[..<count])
  }

  /// The SHA-256 of a file, and its length.
  static func digest(of path: String) throws(CrashTestError) -> (digest: Digest, byteCount: Int) {
    let file = try FileBytes(of: path)
    var hash = SHA256()
    var byteCount = 0
    while true {
      let piece = try file.next()
      if piece.isEmpty { return (hash.finalize(), byteCount) }
      hash.update(piece)
      byteCount += piece.count
    }
  }

  /// Where two files differ first, in bytes from their beginning; nil if they are the same.
  static func firstDifference(
    _ path: String, _ other: String
  ) throws(CrashTestError) -> Int? {
    let first = try FileBytes(of: path)
    let second = try FileBytes(of: other)
    var offset = 0
    while true {
      let (one, two) = (try first.next(), try second.next())
      if one != two {
        return offset + (zip(one, two).prefix { $0 == $1 }.count)
      }
      if one.isEmpty { return nil }
      offset += one.count
    }
  }
}

import Glibc
internal import Platform

/// A file written sequentially from bytes and ranges of other files. Its digest, if wanted, is
/// computed from the bytes written. Otherwise ranges are copied within the kernel if the file
/// systems support it.
struct CopiedFile: ~Copyable {
  private let file: OpenFile
  private var hasher: SHA256?
  private var byteCount = 0

  private static let pieceLength = FileOperations.pieceByteCount

  init(at path: String, isDigestWanted: Bool) throws(SpoolError) {
    let file = try OpenFile(path: path, O_RDWR | O_CREAT)
    try file.truncate(to: 0)
    self.file = file
    hasher = isDigestWanted ? SHA256() : nil
  }

  mutating func append(_ bytes: [UInt8]) throws(SpoolError) {
    try file.write(bytes, at: byteCount)
    hasher?.update(bytes)
    byteCount += bytes.count
  }

  /// Copies a range of another file. O(range).
  mutating func append(_ range: Range<Int>, of source: borrowing OpenFile) throws(SpoolError) {
    var next = range.lowerBound
    if hasher == nil, (try? source.seek(to: next)) != nil, (try? file.seek(to: byteCount)) != nil {
      while next < range.upperBound {
        let count = try? FileOperations.uncounted.copyRange(
          from: source, to: file, byteCount: range.upperBound - next)
        guard let count, count > 0 else { break }
        next += count
        byteCount += count
      }
    }
    while next < range.upperBound {
      let piece = try source.read(min(Self.pieceLength, range.upperBound - next), at: next)
      try append(piece)
      next += piece.count
    }
  }

  /// The SHA-256 of all written bytes; nil if not wanted.
  consuming func digest() -> Digest? {
    guard let hasher else { return nil }
    return hasher.finalize()
  }

  /// The SHA-256 of a file written non-sequentially by a library: the file is read again. O(bytes).
  static func digest(ofWritten path: String) throws(SpoolError) -> Digest {
    let file = try OpenFile(path: path, O_RDONLY | O_NOFOLLOW)
    return try writing(path) { () throws(SystemError) in
      try FileOperations.uncounted.digest(of: file).digest
    }
  }
}

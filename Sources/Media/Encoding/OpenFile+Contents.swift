import Glibc
internal import Platform

/// Files of encoders and containers, read and written at offsets.
extension OpenFile {
  /// Opens the file at `path`; `flags` may create it, with access for this user alone.
  init(path: String, _ flags: Int32) throws(SpoolError) {
    self = try writing(path) { () throws(SystemError) in
      try OpenFile(path, flags, mode: 0o600)
    }
  }

  /// Opens an unnamed temporary file in the folder of `path`, which names it in errors.
  init(namelessBeside path: String) throws(SpoolError) {
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    self = try writing(path) { () throws(SystemError) in
      try OpenFile(namelessIn: folder.isEmpty ? "." : folder, named: path)
    }
  }

  /// Another descriptor of it, whose position is the same.
  func copy() throws(SpoolError) -> OpenFile {
    OpenFile(
      descriptor: try writing(path) { () throws(SystemError) in
        try SystemError.check { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
      }, path: path)
  }

  /// How long it is.
  var byteCount: Int {
    get throws(SpoolError) {
      Int(try writing(path) { () throws(SystemError) in try stamp.byteCount })
    }
  }

  /// Writes all of `bytes`, from `offset` on.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SpoolError) {
    try writing(path) { () throws(SystemError) in try unsafe put(bytes, at: offset) }
  }

  /// Writes all of `bytes`, from `offset` on.
  func write(_ bytes: [UInt8], at offset: Int) throws(SpoolError) {
    try writing(path) { () throws(SystemError) in try put(bytes, at: offset) }
  }

  /// Fills `bytes` from `offset`; throws if the file ends before.
  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(SpoolError) {
    try writing(path) { () throws(SystemError) in
      guard try unsafe fill(bytes, at: offset) == bytes.count else { throw SystemError(EIO) }
    }
  }

  /// The `count` bytes from `offset` on.
  func read(_ count: Int, at offset: Int) throws(SpoolError) -> [UInt8] {
    try writing(path) { () throws(SystemError) in
      let bytes = try bytes(count, at: offset)
      guard bytes.count == count else { throw SystemError(EIO) }
      return bytes
    }
  }

  /// The checksum of a byte range. O(bytes).
  func checksum(_ range: Range<Int>) throws(SpoolError) -> Checksum {
    var checksum = Checksum()
    let pieceByteCount = FileOperations.pieceByteCount
    for start in stride(from: range.lowerBound, to: range.upperBound, by: pieceByteCount) {
      let piece = try read(min(pieceByteCount, range.upperBound - start), at: start)
      unsafe checksum.update(piece.span.bytes)
    }
    return checksum
  }

  /// Cuts off the bytes after `byteCount`.
  func truncate(to byteCount: Int) throws(SpoolError) {
    try writing(path) { () throws(SystemError) in
      try FileOperations.uncounted.truncate(self, to: byteCount)
    }
  }

  /// Makes the file's bytes and length durable.
  func flush() throws(SpoolError) {
    try writing(path) { () throws(SystemError) in try FileOperations.uncounted.flush(self) }
  }
}

/// Runs system calls that read or write a file, which an error names.
func writing<Result: ~Copyable>(
  _ path: String, _ calls: () throws(SystemError) -> Result
) throws(SpoolError) -> Result {
  do { return try calls() } catch {
    throw SpoolError("write", path, error, advice: SpoolError.tryAgain)
  }
}

import Glibc
import Platform

/// The owner of an open file, which uses system calls directly.
struct RawFile: ~Copyable, Sendable {
  let descriptor: Int32
  /// Names the file in errors.
  let path: String

  /// Opens the file at `path`; `flags` may create it, with access for this user alone.
  init(path: String, _ flags: Int32) throws(SpoolError) {
    descriptor = try Self.open(path, flags, for: path)
    self.path = path
  }

  /// Opens an unnamed temporary file in the folder of `path`.
  init(namelessBeside path: String) throws(SpoolError) {
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    descriptor = try Self.open(
      folder.isEmpty ? "." : folder, O_RDWR | __O_TMPFILE | O_DIRECTORY, for: path)
    self.path = path
  }

  private static func open(
    _ place: String, _ flags: Int32, for path: String
  ) throws(SpoolError) -> Int32 {
    try writing(path) { () throws(SystemError) in
      try SystemError.check { unsafe Glibc.open(place, flags | O_CLOEXEC, 0o600) }
    }
  }

  deinit { close(descriptor) }

  /// How long it is.
  var byteCount: Int {
    get throws(SpoolError) {
      var status = stat()
      try doing { unsafe fstat(descriptor, &status) }
      return Int(status.st_size)
    }
  }

  /// Writes all of `bytes`, from `offset` on.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SpoolError) {
    try transfer(bytes.count) { done in
      unsafe pwrite(
        descriptor, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done,
        off_t(offset + done))
    }
  }

  /// Fills `bytes` from `offset`; throws if the file ends before.
  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(SpoolError) {
    try transfer(bytes.count) { done in
      unsafe pread(
        descriptor, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done,
        off_t(offset + done))
    }
  }

  /// Repeats a call, which gets the number of bytes done and returns that of further ones, until
  /// all are done.
  private func transfer(_ byteCount: Int, _ call: (Int) -> Int) throws(SpoolError) {
    var done = 0
    while done < byteCount {
      let count = try doing { call(done) }
      guard count > 0 else { throw SpoolError(writing: path, SystemError(EIO)) }
      done += count
    }
  }

  /// Cuts off the bytes after `byteCount`.
  func truncate(to byteCount: Int) throws(SpoolError) {
    try doing { ftruncate(descriptor, off_t(byteCount)) }
  }

  /// Makes the file's bytes and length durable.
  func flush() throws(SpoolError) { try doing { fdatasync(descriptor) } }

  /// Makes the names in a folder durable. `fdatasync` is not enough, as a new name need not change
  /// the folder's length.
  func flushNames() throws(SpoolError) { try doing { fsync(descriptor) } }

  @discardableResult
  private func doing<Count: SignedInteger>(_ call: () -> Count) throws(SpoolError) -> Count {
    try writing(path) { () throws(SystemError) in try SystemError.check(call) }
  }
}

extension RawFile {
  /// Writes all of `bytes`, from `offset` on.
  func write(_ bytes: [UInt8], at offset: Int) throws(SpoolError) {
    try unsafe bytes.span.bytes.withUnsafeBytes { (bytes) throws(SpoolError) in
      try unsafe write(bytes, at: offset)
    }
  }

  /// The `count` bytes from `offset` on.
  func read(_ count: Int, at offset: Int) throws(SpoolError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var raw = unsafe span.mutableBytes
    try unsafe raw.withUnsafeMutableBytes { (bytes) throws(SpoolError) in
      try unsafe read(into: bytes, at: offset)
    }
    return bytes
  }
}

/// Runs system calls that read or write a file, which an error names.
func writing<Result>(
  _ path: String, _ calls: () throws(SystemError) -> Result
) throws(SpoolError) -> Result {
  do { return try calls() } catch { throw SpoolError(writing: path, error) }
}

extension SpoolError {
  /// A failed system call while writing beside `path`.
  fileprivate init(writing path: String, _ error: SystemError) {
    self.init(
      "write", path, error, advice: error.isFullDisk ? "free some space" : SpoolError.tryAgain)
  }
}

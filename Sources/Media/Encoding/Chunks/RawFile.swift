import Glibc
import Platform

/// The owner of an open file, which uses system calls directly.
struct RawFile: ~Copyable, Sendable {
  let descriptor: Int32
  /// Names the file in errors.
  let path: String

  /// Opens the file at `path`; `flags` may create it, with access for this user alone.
  init(path: String, _ flags: Int32) throws(MediaError) {
    descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC, 0o600)
    self.path = path
    guard descriptor >= 0 else { throw MediaError(writing: path, errno) }
  }

  /// Opens an unnamed temporary file in the folder of `path`.
  init(namelessBeside path: String) throws(MediaError) {
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    let flags = O_RDWR | O_CLOEXEC | __O_TMPFILE | O_DIRECTORY
    descriptor = unsafe Glibc.open(folder.isEmpty ? "." : folder, flags, 0o600)
    self.path = path
    guard descriptor >= 0 else { throw MediaError(writing: path, errno) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// How long it is.
  var byteCount: Int {
    get throws(MediaError) {
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { throw MediaError(writing: path, errno) }
      return Int(status.st_size)
    }
  }

  /// Writes all of `bytes`, from `offset` on.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(MediaError) {
    var done = 0
    while done < bytes.count {
      let count = unsafe pwrite(
        descriptor, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done,
        off_t(offset + done))
      if count > 0 {
        done += count
      } else if count == 0 || errno != EINTR {
        throw MediaError(writing: path, count == 0 ? EIO : errno)
      }
    }
  }

  /// Fills `bytes` from `offset`; throws if the file ends before.
  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(MediaError) {
    var done = 0
    while done < bytes.count {
      let count = unsafe pread(
        descriptor, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done,
        off_t(offset + done))
      if count > 0 {
        done += count
      } else if count == 0 || errno != EINTR {
        throw MediaError(writing: path, count == 0 ? EIO : errno)
      }
    }
  }

  /// Cuts off the bytes after `byteCount`.
  func truncate(to byteCount: Int) throws(MediaError) {
    guard ftruncate(descriptor, off_t(byteCount)) == 0 else {
      throw MediaError(writing: path, errno)
    }
  }

  /// Makes the file's bytes and length durable.
  func flush() throws(MediaError) {
    guard fdatasync(descriptor) == 0 else { throw MediaError(writing: path, errno) }
  }

  /// Makes the names in a folder durable. `fdatasync` is not enough, as a new name need not change
  /// the folder's length.
  func flushNames() throws(MediaError) {
    guard fsync(descriptor) == 0 else { throw MediaError(writing: path, errno) }
  }
}

extension RawFile {
  /// Writes all of `bytes`, from `offset` on.
  func write(_ bytes: [UInt8], at offset: Int) throws(MediaError) {
    let outcome = unsafe bytes.withUnsafeBytes { (bytes) -> Result<Void, MediaError> in
      do throws(MediaError) { return .success(try unsafe write(bytes, at: offset)) } catch {
        return .failure(error)
      }
    }
    try outcome.get()
  }

  /// The `count` bytes from `offset` on.
  func read(_ count: Int, at offset: Int) throws(MediaError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let outcome = unsafe bytes.withUnsafeMutableBytes { (bytes) -> Result<Void, MediaError> in
      do throws(MediaError) { return .success(try unsafe read(into: bytes, at: offset)) } catch {
        return .failure(error)
      }
    }
    try outcome.get()
    return bytes
  }
}

extension MediaError {
  /// A failed system call while writing beside `path`.
  init(writing path: String, _ code: Int32) {
    let isFull = SystemError(code).isFullDisk
    self.init(
      isFull ? .outOfSpace : .write, "write", path: path,
      reason: unsafe String(cString: strerror(code)),
      advice: isFull ? "free some space" : nil)
  }
}

internal import CPosix
import Glibc

/// An open file or folder with one owner, which closes it. Its own calls are no operations of a
/// store: they have no crash point.
package struct OpenFile: ~Copyable, Sendable {
  package let descriptor: CInt
  package let path: String

  package init(descriptor: CInt, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a file with the flags of open(2). A program that is started does not inherit it.
  /// - Parameter name: names it in errors instead of the path.
  package init(
    _ path: String, _ flags: CInt, mode: UInt32 = 0, named name: String? = nil
  ) throws(SystemError) {
    let descriptor = try SystemError.check { unsafe open(path, flags | O_CLOEXEC, mode) }
    self.init(descriptor: descriptor, path: name ?? path)
  }

  /// Makes a file without a name in a folder, for this user alone: nothing is left of it, however the
  /// process ends.
  /// - Parameter name: names it in errors instead of the folder.
  package init(namelessIn folder: String, named name: String? = nil) throws(SystemError) {
    try self.init(folder, O_RDWR | __O_TMPFILE | O_DIRECTORY, mode: 0o600, named: name)
  }

  /// Opens a name in an open folder.
  package init(
    _ name: String, in folder: borrowing OpenFile, _ flags: CInt
  ) throws(SystemError) {
    let parent = folder.descriptor
    let descriptor = try SystemError.check { unsafe openat(parent, name, flags | O_CLOEXEC) }
    self.init(descriptor: descriptor, path: "\(folder.path)/\(name)")
  }

  /// Makes a file that lies in memory only, with its position behind `bytes`.
  package init(inMemory name: String, holding bytes: [UInt8] = []) throws(SystemError) {
    let descriptor = try SystemError.check { unsafe posix_memory_file(name) }
    let file = OpenFile(descriptor: descriptor, path: name)
    try file.put(bytes)
    self = file
  }

  deinit { close(descriptor) }

  package var stamp: FileStamp {
    get throws(SystemError) { FileStamp(try status) }
  }

  private var status: stat {
    get throws(SystemError) {
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { throw .last }
      return status
    }
  }

  /// Fills `bytes` from `offset`, or from the file's own position, as a pipe needs it.
  /// - Returns: the number of bytes; fewer if the file ends before.
  package func fill(
    _ bytes: UnsafeMutableRawBufferPointer, at offset: Int? = nil
  ) throws(SystemError) -> Int {
    var done = 0
    while done < bytes.count {
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
      let count = try SystemError.check {
        if let offset {
          unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
        } else {
          unsafe read(descriptor, rest.baseAddress, rest.count)
        }
      }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Up to `count` bytes from `offset`, or from the file's own position; fewer if the file ends
  /// before.
  package func bytes(_ count: Int, at offset: Int? = nil) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var raw = unsafe span.mutableBytes
    let got = try unsafe raw.withUnsafeMutableBytes { (bytes) throws(SystemError) in
      try unsafe fill(bytes, at: offset)
    }
    bytes.removeLast(count - got)
    return bytes
  }

  /// Writes all of `bytes`, from `offset` on or at the file's own position.
  package func put(_ bytes: UnsafeRawBufferPointer, at offset: Int? = nil) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
      done += try SystemError.check {
        if let offset {
          unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
        } else {
          unsafe write(descriptor, rest.baseAddress, rest.count)
        }
      }
    }
  }

  /// Writes all of `bytes`, from `offset` on or at the file's own position.
  package func put(_ bytes: [UInt8], at offset: Int? = nil) throws(SystemError) {
    try unsafe bytes.span.bytes.withUnsafeBytes { (bytes) throws(SystemError) in
      try unsafe put(bytes, at: offset)
    }
  }

  /// Moves the file's own position.
  package func seek(to offset: Int) throws(SystemError) {
    guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else { throw .last }
  }

  /// Flushes everything of a file or folder: bytes, names, permissions and times. Never retry after
  /// an error.
  package func flushAll() throws(SystemError) {
    guard fsync(descriptor) == 0 else { throw .last }
  }

  /// Sets the modification time, in nanoseconds since 1970. A failure is ignored.
  package func setModified(_ time: Int64) {
    let time = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
    _ = unsafe futimens(descriptor, [time, time])
  }

  /// Announces that all of it is read once, from the beginning. Affects speed only.
  package func expectSequentialReading() {
    _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
  }

  /// Takes a lock without waiting; the kernel releases it when its holder dies.
  /// - Parameter kind: of flock(2): `LOCK_EX` or `LOCK_SH`.
  /// - Returns: false if another holder prevents it.
  package func lock(_ kind: CInt = LOCK_EX) throws(SystemError) -> Bool {
    do throws(SystemError) {
      try SystemError.check { flock(descriptor, kind | LOCK_NB) }
      return true
    } catch {
      if error.code == EWOULDBLOCK { return false }
      throw error
    }
  }

  /// Takes a lock if the file system has locks. Where it has none, users must not be stopped, and
  /// the owner in the name decides.
  /// - Returns: false if another holder prevents it.
  package func tryLock(_ kind: CInt = LOCK_EX) -> Bool { (try? lock(kind)) ?? true }

  /// Unlocks the file, also while a starting child process still has it open.
  package func unlock() { flock(descriptor, LOCK_UN) }

  /// Whether a process has it open for writing; nil if unknown: the file has another owner, or its
  /// file system has no leases.
  ///
  /// Asks for a read lease, which is granted only without writers (fcntl(2)). The system refuses
  /// one to non-owners, and some file systems have none.
  package var hasWriters: Bool? {
    if posix_probe_writers(descriptor) == 0 { return false }
    return errno == EAGAIN ? true : nil
  }

  /// The number of the kind of its file system; -1 if it is unknown.
  package var fileSystemKind: Int { posix_file_system_kind(descriptor) }

  /// Where the hole begins that ends the file, if it is longer than `limit`, else the file's length.
  /// Moves the file's position. O(holes) calls of the kernel, 200,000 at most.
  package func endOfData(_ byteCount: Int, beforeHolesOver limit: Int) -> Int {
    // Where the kernel knows no holes, all is data.
    guard byteCount > limit, posix_seek_stretch(descriptor, byteCount - limit, 0) < 0,
      errno == ENXIO
    else { return byteCount }
    var end = 0
    for _ in 0..<100_000 {
      let start = posix_seek_stretch(descriptor, end, 0)
      guard start >= 0 else { return end }
      end = posix_seek_stretch(descriptor, start, 1)
      guard end > start else { break }
    }
    return byteCount
  }

  /// Frees the disk space of a range, whose bytes become 0; the length stays. Some file systems
  /// cannot, which changes nothing.
  package func punchHole(at offset: Int, byteCount: Int) {
    posix_punch_hole(descriptor, offset, byteCount)
  }

  /// Bytes outside holes, counted until there are `limit`. Compressing file systems need little
  /// room as well: only holes count. All bytes on a file system without holes.
  package func heldByteCount(upTo limit: Int64) -> Int64 {
    guard let status = try? status, Int64(status.st_blocks) * 512 < limit else { return limit }
    var (held, position) = (0, 0)
    while held < limit, position < status.st_size {
      let start = posix_seek_stretch(descriptor, position, 0)
      if start < 0 { return errno == ENXIO ? Int64(held) : limit }
      let end = posix_seek_stretch(descriptor, start, 1)
      guard end > start else { return limit }
      held += end - start
      position = end
    }
    return Int64(held)
  }
}

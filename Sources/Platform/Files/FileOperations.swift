internal import CPosix
import Glibc

/// The file system's calls, so that tests can check their order and make the n-th fail.
package struct FileOperations: Sendable {
  /// Called before each operation; its error replaces the operation.
  package let willPerform: @Sendable (FileOperation) throws(SystemError) -> Void

  package init(
    willPerform: @escaping @Sendable (FileOperation) throws(SystemError) -> Void
  ) {
    self.willPerform = willPerform
  }

  package static let system = FileOperations { (operation) throws(SystemError) in
    if operation.changesDisk { CrashPoint.chosen?.pass() }
  }

  /// Makes a folder unless the name exists.
  package func makeFolder(_ path: String, mode: UInt32) throws(SystemError) {
    try willPerform(.makeFolder(path))
    do throws(SystemError) {
      try SystemError.check { unsafe mkdir(path, mode) }
    } catch {
      if error.code != EEXIST { throw error }
    }
  }

  package func open(_ path: String, _ flags: CInt, mode: UInt32 = 0) throws(SystemError) -> OpenFile
  {
    try willPerform(.open(path))
    let descriptor = try SystemError.check { unsafe Glibc.open(path, flags | O_CLOEXEC, mode) }
    return OpenFile(descriptor: descriptor, path: path)
  }

  /// Reads at `offset`, up to the size of `bytes`.
  /// - Returns: the number of bytes; 0 at the end.
  package func read(
    into bytes: inout [UInt8], from file: borrowing OpenFile, at offset: Int64
  ) throws(SystemError) -> Int {
    try willPerform(.read(file.path))
    let descriptor = file.descriptor
    let capacity = bytes.count
    return try SystemError.check { unsafe pread(descriptor, &bytes, capacity, off_t(offset)) }
  }

  package func write(_ bytes: UnsafeRawBufferPointer, to file: borrowing OpenFile)
    throws(SystemError)
  {
    let descriptor = file.descriptor
    var rest = unsafe bytes[...]
    while unsafe !rest.isEmpty {
      try willPerform(.write(file.path, byteCount: unsafe rest.count))
      let piece = unsafe UnsafeRawBufferPointer(rebasing: rest)
      let count = try SystemError.check {
        unsafe Glibc.write(descriptor, piece.baseAddress, piece.count)
      }
      unsafe rest = rest.dropFirst(count)
    }
  }

  package func write(_ bytes: [UInt8], to file: borrowing OpenFile) throws(SystemError) {
    try unsafe bytes.span.bytes.withUnsafeBytes { (bytes) throws(SystemError) in
      try unsafe write(bytes, to: file)
    }
  }

  /// Starts writeback of a range. Affects speed only.
  package func startWriteback(of file: borrowing OpenFile, from offset: Int, byteCount: Int) {
    guard (try? willPerform(.startWriteback(file.path))) != nil else { return }
    _ = posix_start_writeback(file.descriptor, off_t(offset), off_t(byteCount))
  }

  /// Truncates the file to `byteCount` bytes.
  package func truncate(_ file: borrowing OpenFile, to byteCount: Int = 0) throws(SystemError) {
    try willPerform(.truncate(file.path))
    let descriptor = file.descriptor
    try SystemError.check { ftruncate(descriptor, off_t(byteCount)) }
  }

  package func setMode(_ mode: UInt32, of file: borrowing OpenFile) throws(SystemError) {
    try willPerform(.setMode(file.path))
    let descriptor = file.descriptor
    try SystemError.check { fchmod(descriptor, mode) }
  }

  /// Gives a file the owner and group of another; does nothing where this process may not.
  package func setOwner(of file: borrowing OpenFile, like other: FileStamp) throws(SystemError) {
    try willPerform(.setOwner(file.path))
    _ = fchown(file.descriptor, other.owner, other.group)
  }

  /// Flushes the file's bytes and length. Never retry after an error: the kernel no longer knows
  /// which bytes it could not write.
  package func flush(_ file: borrowing OpenFile) throws(SystemError) {
    try willPerform(.flush(file.path))
    guard fdatasync(file.descriptor) == 0 else { throw .last }
  }

  /// Renames a file; replaces the target.
  package func rename(_ source: String, to target: String) throws(SystemError) {
    try willPerform(.rename(from: source, to: target))
    try SystemError.check { unsafe Glibc.rename(source, target) }
  }

  /// Renames a file; throws EEXIST if the target exists.
  package func rename(_ source: String, toNew target: String) throws(SystemError) {
    do throws(SystemError) {
      try willPerform(.rename(from: source, to: target))
      try SystemError.check { unsafe posix_rename_new(source, target) }
    } catch {
      guard [EINVAL, ENOSYS].contains(error.code) else { throw error }
      // A file system without RENAME_NOREPLACE may have hard links, which do not replace.
      try link(source, to: target)
      try unlink(source)
    }
  }

  /// Makes a hard link; throws EEXIST if the target exists.
  package func link(_ source: String, to target: String) throws(SystemError) {
    try willPerform(.link(from: source, to: target))
    try SystemError.check { unsafe Glibc.link(source, target) }
  }

  package func unlink(_ path: String) throws(SystemError) {
    try willPerform(.unlink(path))
    try SystemError.check { unsafe Glibc.unlink(path) }
  }

  /// Removes a file, if it exists.
  package func unlinkIfThere(_ path: String) throws(SystemError) {
    do throws(SystemError) { try unlink(path) } catch {
      if error.code != ENOENT { throw error }
    }
  }

  /// Removes an empty folder.
  package func removeFolder(_ path: String) throws(SystemError) {
    try willPerform(.removeFolder(path))
    try SystemError.check { unsafe rmdir(path) }
  }

  /// Locks a file; the kernel unlocks it when its holder dies.
  /// - Returns: false if it is locked already.
  package func lock(_ file: borrowing OpenFile) throws(SystemError) -> Bool {
    try willPerform(.lock(file.path))
    let descriptor = file.descriptor
    do throws(SystemError) {
      try SystemError.check { flock(descriptor, LOCK_EX | LOCK_NB) }
      return true
    } catch {
      if error.code == EWOULDBLOCK { return false }
      throw error
    }
  }

  /// Flushes the names in a folder.
  package func flushFolder(_ path: String) throws(SystemError) {
    try willPerform(.flushFolder(path))
    let descriptor = try SystemError.check {
      unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    let folder = OpenFile(descriptor: descriptor, path: path)
    guard fsync(folder.descriptor) == 0 else { throw .last }
  }

  /// Lets `target` share the blocks of `source`; many file systems cannot.
  package func clone(_ source: borrowing OpenFile, to target: borrowing OpenFile)
    throws(SystemError)
  {
    try willPerform(.clone(from: source.path, to: target.path))
    let (from, to) = (source.descriptor, target.descriptor)
    try SystemError.check { posix_clone(to, from) }
  }

  /// Copies up to `byteCount` bytes at both files' positions.
  /// - Returns: the number of bytes.
  package func copyRange(
    from source: borrowing OpenFile, to target: borrowing OpenFile, byteCount: Int
  ) throws(SystemError) -> Int {
    try willPerform(.copyRange(from: source.path, to: target.path))
    let (from, to) = (source.descriptor, target.descriptor)
    return try SystemError.check { posix_copy_range(from, to, byteCount) }
  }
}

/// A file system call, before it is made.
package enum FileOperation: Hashable, Sendable {
  case makeFolder(String)
  case open(String)
  case read(String)
  case write(String, byteCount: Int)
  case startWriteback(String)
  case truncate(String)
  case setMode(String)
  case setOwner(String)
  case flush(String)
  case rename(from: String, to: String)
  case link(from: String, to: String)
  case unlink(String)
  case removeFolder(String)
  case lock(String)
  case flushFolder(String)
  case clone(from: String, to: String)
  case copyRange(from: String, to: String)

  /// Whether the call may change the disk. Opening may make a file.
  package var changesDisk: Bool {
    switch self {
    case .read, .startWriteback: false
    default: true
    }
  }
}

extension FileOperations {
  /// Bytes per read.
  package static let pieceByteCount = 1 << 20

  /// The first bytes of a regular file, at most `limit`. Follows no link.
  package func bytes(of path: String, limit: Int64 = .max) throws(SystemError) -> [UInt8] {
    let file = try open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    let stamp = try file.stamp
    let count = stamp.isRegularFile ? Int(min(stamp.byteCount, limit)) : 0
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: min(count, Self.pieceByteCount))
    while bytes.count < count {
      let got = try read(into: &piece, from: file, at: Int64(bytes.count))
      if got == 0 { break }
      bytes += piece[..<min(got, count - bytes.count)]
    }
    return bytes
  }

  /// The digest and the length of a file.
  package func digest(of file: borrowing OpenFile) throws(SystemError) -> (
    digest: Digest, byteCount: Int64
  ) {
    var byteCount: Int64 = 0
    let hash = try hash(of: file, upTo: .max, byteCount: &byteCount)
    return (hash.finalize(), byteCount)
  }

  /// The running hash of a file's first bytes, at most `limit`.
  package func hash(of file: borrowing OpenFile, upTo limit: Int64) throws(SystemError) -> SHA256 {
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

  package func haveSameBytes(_ a: borrowing OpenFile, _ b: borrowing OpenFile) throws(SystemError)
    -> Bool
  {
    guard try a.stamp.byteCount == b.stamp.byteCount else { return false }
    return try digest(of: a).digest == digest(of: b).digest
  }
}

/// An open file with one owner, which closes it.
package struct OpenFile: ~Copyable, Sendable {
  package let descriptor: CInt
  package let path: String

  package init(descriptor: CInt, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  package var stamp: FileStamp {
    get throws(SystemError) {
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { throw .last }
      return FileStamp(status)
    }
  }

  /// Locks the file; the kernel unlocks it when its holder dies.
  /// - Returns: false if it is locked already.
  package func tryLock() -> Bool {
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
    // On file systems without locks, the owner in the name decides.
    return errno != EWOULDBLOCK
  }

  /// Unlocks the file, also while a starting child process still has it open.
  package func unlock() { flock(descriptor, LOCK_UN) }
}

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

  /// The calls on files that are no part of a store: ``CrashPoint`` does not count them.
  package static let uncounted = FileOperations { (_) throws(SystemError) in }

  /// Makes a folder unless the name exists.
  package func makeFolder(_ path: String, mode: UInt32) throws(SystemError) {
    do throws(SystemError) { try makeNewFolder(path, mode: mode) } catch {
      if error.code != EEXIST { throw error }
    }
  }

  /// Makes a folder; throws EEXIST if the name exists.
  package func makeNewFolder(_ path: String, mode: UInt32) throws(SystemError) {
    try willPerform(.makeFolder(path))
    try SystemError.check { unsafe mkdir(path, mode) }
  }

  /// Makes a folder for its owner only, whose unique name begins with the last name of `start`.
  /// - Returns: its path.
  package func makeUniqueFolder(_ start: String) throws(SystemError) -> String {
    try willPerform(.makeFolder(start))
    var path = Array("\(start)XXXXXX".utf8CString)
    guard unsafe mkdtemp(&path) != nil else { throw .last }
    return String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  package func open(_ path: String, _ flags: CInt, mode: UInt32 = 0) throws(SystemError) -> OpenFile
  {
    try willPerform(.open(path))
    return try OpenFile(path, flags, mode: mode)
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

  /// Sets the permissions of what a path leads to.
  package func setMode(_ mode: UInt32, at path: String) throws(SystemError) {
    try willPerform(.setMode(path))
    try SystemError.check { unsafe chmod(path, mode) }
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

  /// Replaces a whole file, or makes it: writes its bytes under another name, flushes them, and
  /// renames. Does not flush the name.
  /// - Parameter draft: the other name, which is free or an earlier attempt's.
  package func replace(
    _ path: String, with bytes: [UInt8], draft: String, mode: UInt32
  ) throws(SystemError) {
    do throws(SystemError) {
      let file = try open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: mode)
      try write(bytes, to: file)
      try flush(file)
      try rename(draft, to: path)
    } catch {
      try? unlink(draft)
      throw error
    }
  }

  /// Makes a hard link; throws EEXIST if the target exists.
  package func link(_ source: String, to target: String) throws(SystemError) {
    try willPerform(.link(from: source, to: target))
    try SystemError.check { unsafe Glibc.link(source, target) }
  }

  /// Makes a symbolic link; throws EEXIST if the name exists.
  package func link(to target: String, symbolicallyAt path: String) throws(SystemError) {
    try willPerform(.link(from: target, to: path))
    try SystemError.check { unsafe symlink(target, path) }
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

  /// Throws if a folder cannot be written to now: its permissions forbid it, or its disk is
  /// read-only. Blocks while the disk does not answer.
  package func checkWritable(folder path: String) throws(SystemError) {
    let folder = try open(path, O_RDONLY | O_DIRECTORY)
    var entry = statvfs()
    guard unsafe fstatvfs(folder.descriptor, &entry) == 0 else { throw .last }
    if entry.f_flag & UInt(ST_RDONLY) != 0 { throw SystemError(EROFS) }
    if let obstacle = FilePath.obstacle(to: path, W_OK | X_OK) { throw obstacle }
  }

  /// Locks a file; the kernel unlocks it when its holder dies.
  /// - Returns: false if it is locked already.
  package func lock(_ file: borrowing OpenFile) throws(SystemError) -> Bool {
    try willPerform(.lock(file.path))
    return try file.lock()
  }

  /// Flushes the names in a folder.
  package func flushFolder(_ path: String) throws(SystemError) {
    try willPerform(.flushFolder(path))
    try OpenFile(path, O_RDONLY | O_DIRECTORY).flushAll()
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

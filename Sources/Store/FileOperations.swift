internal import CPosix
import Glibc

/// Every call by which the store touches a disk: the one place where a test can see their order,
/// and make the n-th of them fail.
struct FileOperations: Sendable {
  /// Called before each operation; what it throws takes the operation's place.
  let willPerform: @Sendable (FileOperation) throws(SystemError) -> Void

  /// The system's own calls.
  static let system = FileOperations { (operation) throws(SystemError) in
    if operation.changesDisk { CrashPoint.chosen?.pass() }
  }

  /// Makes a folder unless something of that name is there.
  func makeFolder(_ path: String, mode: mode_t) throws(SystemError) {
    try willPerform(.makeFolder(path))
    do throws(SystemError) {
      try check { unsafe mkdir(path, mode) }
    } catch {
      if error.code != EEXIST { throw error }
    }
  }

  func open(_ path: String, _ flags: CInt, mode: mode_t = 0) throws(SystemError) -> OpenFile {
    try willPerform(.open(path))
    let descriptor = try check { unsafe Glibc.open(path, flags | O_CLOEXEC, mode) }
    return OpenFile(descriptor: descriptor, path: path)
  }

  /// Reads at `offset`, as much as `bytes` holds.
  /// - Returns: how many bytes came; 0 at the end.
  func read(
    into bytes: inout [UInt8], from file: borrowing OpenFile, at offset: Int64
  ) throws(SystemError) -> Int {
    try willPerform(.read(file.path))
    let descriptor = file.descriptor
    let capacity = bytes.count
    return try check { unsafe pread(descriptor, &bytes, capacity, off_t(offset)) }
  }

  /// Writes all of `bytes`.
  func write(_ bytes: UnsafeRawBufferPointer, to file: borrowing OpenFile) throws(SystemError) {
    let descriptor = file.descriptor
    var rest = unsafe bytes[...]
    while unsafe !rest.isEmpty {
      try willPerform(.write(file.path, byteCount: unsafe rest.count))
      let piece = unsafe UnsafeRawBufferPointer(rebasing: rest)
      let count = try check { unsafe Glibc.write(descriptor, piece.baseAddress, piece.count) }
      unsafe rest = rest.dropFirst(count)
    }
  }

  /// Lets the disk begin with a stretch that was written. Only speed depends on it.
  func startWriteback(of file: borrowing OpenFile, from offset: Int, byteCount: Int) {
    guard (try? willPerform(.startWriteback(file.path))) != nil else { return }
    _ = posix_start_writeback(file.descriptor, off_t(offset), off_t(byteCount))
  }

  /// Cuts off what lies behind the first `byteCount` bytes.
  func truncate(_ file: borrowing OpenFile, to byteCount: Int = 0) throws(SystemError) {
    try willPerform(.truncate(file.path))
    let descriptor = file.descriptor
    try check { ftruncate(descriptor, off_t(byteCount)) }
  }

  func setMode(_ mode: mode_t, of file: borrowing OpenFile) throws(SystemError) {
    try willPerform(.setMode(file.path))
    let descriptor = file.descriptor
    try check { fchmod(descriptor, mode) }
  }

  /// Waits until the file's bytes and length are on the disk. Never try again what failed: the
  /// system has forgotten by then which bytes it could not write.
  func flush(_ file: borrowing OpenFile) throws(SystemError) {
    try willPerform(.flush(file.path))
    guard fdatasync(file.descriptor) == 0 else { throw .last }
  }

  /// Gives a file another name, in place of whatever has it already.
  func rename(_ source: String, to target: String) throws(SystemError) {
    try willPerform(.rename(from: source, to: target))
    try check { unsafe Glibc.rename(source, target) }
  }

  /// Gives a file another name; throws EEXIST if something has it already.
  func rename(_ source: String, toNew target: String) throws(SystemError) {
    do throws(SystemError) {
      try willPerform(.rename(from: source, to: target))
      try check { unsafe posix_rename_new(source, target) }
    } catch {
      guard [EINVAL, ENOSYS].contains(error.code) else { throw error }
      // A file system that cannot promise this can still make a second name, which does.
      try link(source, to: target)
      try unlink(source)
    }
  }

  /// Gives a file a second name; throws EEXIST if something has it already.
  func link(_ source: String, to target: String) throws(SystemError) {
    try willPerform(.link(from: source, to: target))
    try check { unsafe Glibc.link(source, target) }
  }

  func unlink(_ path: String) throws(SystemError) {
    try willPerform(.unlink(path))
    try check { unsafe Glibc.unlink(path) }
  }

  /// Removes an empty folder.
  func removeFolder(_ path: String) throws(SystemError) {
    try willPerform(.removeFolder(path))
    try check { unsafe rmdir(path) }
  }

  /// Takes a file's lock, which the system gives back when its holder dies.
  /// - Returns: false if somebody else holds it.
  func lock(_ file: borrowing OpenFile) throws(SystemError) -> Bool {
    try willPerform(.lock(file.path))
    let descriptor = file.descriptor
    do throws(SystemError) {
      try check { flock(descriptor, LOCK_EX | LOCK_NB) }
      return true
    } catch {
      if error.code == EWOULDBLOCK { return false }
      throw error
    }
  }

  /// Waits until the names in a folder are on the disk.
  func flushFolder(_ path: String) throws(SystemError) {
    try willPerform(.flushFolder(path))
    let descriptor = try check { unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    let folder = OpenFile(descriptor: descriptor, path: path)
    guard fsync(folder.descriptor) == 0 else { throw .last }
  }

  /// Lets `target` share the blocks of `source`; many file systems cannot.
  func clone(_ source: borrowing OpenFile, to target: borrowing OpenFile) throws(SystemError) {
    try willPerform(.clone(from: source.path, to: target.path))
    let (from, to) = (source.descriptor, target.descriptor)
    try check { posix_clone(to, from) }
  }

  /// Copies up to `byteCount` bytes at both files' positions. - Returns: how many went.
  func copyRange(
    from source: borrowing OpenFile, to target: borrowing OpenFile, byteCount: Int
  ) throws(SystemError) -> Int {
    try willPerform(.copyRange(from: source.path, to: target.path))
    let (from, to) = (source.descriptor, target.descriptor)
    return try check { posix_copy_range(from, to, byteCount) }
  }

  /// Makes a call again for as long as a signal cuts it off.
  @discardableResult
  private func check<Count: SignedInteger>(_ call: () -> Count) throws(SystemError) -> Count {
    while true {
      let result = call()
      if result >= 0 { return result }
      let error = SystemError.last
      if error.code != EINTR { throw error }
    }
  }
}

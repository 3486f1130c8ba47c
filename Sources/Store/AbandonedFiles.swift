import Glibc

/// How unfinished files are told from abandoned ones: by the process in their names or records,
/// and by their locks.
enum AbandonedFiles {
  /// A new name that says whose the file is.
  static func newName(for owner: ProcessIdentity) -> String {
    "\(owner).\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
  }

  /// The process in a name that `newName` gave; nil for other names.
  static func owner(inName name: String) -> ProcessIdentity? {
    let parts = name.split(separator: ".")
    guard parts.count == 3, parts[2] == "part" else { return nil }
    return ProcessIdentity(parts[0])
  }

  /// Removes the file if its process is dead and nobody holds its lock.
  /// - Returns: whether it is gone.
  @discardableResult
  static func remove(_ path: String, of owner: ProcessIdentity, files: FileOperations) -> Bool {
    if owner.isAlive { return false }
    do {
      let file = try files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      guard file.tryLock() else { return false }
      try files.unlink(path)
      return true
    } catch {
      return error.code == ENOENT
    }
  }
}

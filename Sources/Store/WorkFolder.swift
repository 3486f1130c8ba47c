import Glibc
internal import PipelineModel

/// The folder where the unfinished files of one piece of work lie, and the file whose lock says
/// that somebody is at it.
struct WorkFolder: Sendable {
  /// The name of the file whose lock is held; no draft may have it.
  static let lockName = "lock"

  let path: String
  let files: FileOperations

  private var lockPath: String { "\(path)/\(Self.lockName)" }

  /// Tries to take the folder's lock, and makes the folder if there is none.
  func claim() throws(SystemError) -> WorkLock.Answer {
    try files.makeFolder(path, mode: 0o700)
    let answer = try lock()
    if case .taken = answer {
      // That the folder was there does not say that whoever made it got as far as this.
      try files.flushFolder(FilePath.folder(of: path))
    }
    return answer
  }

  /// Tries to take the lock of a folder that is there.
  func lock() throws(SystemError) -> WorkLock.Answer {
    try WorkLock.take(lockPath, files: files)
  }

  /// Whether the folder is there and nobody holds its lock, seen without writing anything.
  var isIdle: Bool {
    guard (try? FileStamp(at: path)) != nil else { return false }
    do throws(SystemError) {
      let file = try files.open(lockPath, O_RDONLY | O_NOFOLLOW)
      defer { file.unlock() }
      return try files.lock(file)
    } catch {
      return error.code == ENOENT
    }
  }

  /// When something in the folder was last written to, in seconds since 1970; nil if nothing is
  /// there but the lock.
  var lastWrite: Double? {
    FilePath.names(in: path).filter { $0 != Self.lockName }.compactMap { name in
      (try? FileStamp(at: "\(path)/\(name)")).map { Double($0.modified) / 1e9 }
    }.max()
  }

  /// How long all its files are together.
  var byteCount: Int {
    FilePath.names(in: path).reduce(0) { sum, name in
      sum + ((try? FileStamp(at: "\(path)/\(name)")).map { Int($0.byteCount) } ?? 0)
    }
  }

  /// Removes the folder and all in it, the lock last. Only for whoever holds the lock. Never fails:
  /// what cannot be removed now stays for the next time a store is opened.
  func remove() {
    Self.removeContents(of: path, but: Self.lockName, files: files)
    try? files.unlink(lockPath)
    try? files.removeFolder(path)
  }

  private static func removeContents(
    of folder: String, but kept: String? = nil, files: FileOperations
  ) {
    for name in FilePath.names(in: folder) where name != kept {
      let path = "\(folder)/\(name)"
      if (try? FileStamp(at: path))?.isFolder == true {
        removeContents(of: path, files: files)
        try? files.removeFolder(path)
      } else {
        try? files.unlink(path)
      }
    }
  }
}

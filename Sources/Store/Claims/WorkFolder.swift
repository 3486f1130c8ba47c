import Glibc
internal import PipelineModel
import Platform

/// The folder of a claim's unfinished files, and the file whose lock marks it as in use.
struct WorkFolder: Sendable {
  /// The lock file's name; no draft may have it.
  static let lockName = "lock"

  let path: String
  let files: FileOperations

  private var lockPath: String { "\(path)/\(Self.lockName)" }

  /// Makes the folder if needed and tries to lock it.
  func claim() throws(SystemError) -> WorkLock.Answer {
    try files.makeFolder(path, mode: 0o700)
    let answer = try lock()
    if case .taken = answer {
      // An existing folder may not have been flushed by its maker.
      try files.flushFolder(FilePath.folder(of: path))
    }
    return answer
  }

  /// Tries to lock an existing folder.
  func lock() throws(SystemError) -> WorkLock.Answer {
    try WorkLock.take(lockPath, files: files)
  }

  /// Whether the folder exists and its lock is free. Writes nothing.
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

  /// Last write in the folder, in seconds since 1970; nil if it holds only the lock.
  var lastWrite: Double? {
    FilePath.names(in: path).filter { $0 != Self.lockName }.compactMap { name in
      (try? FileStamp(at: "\(path)/\(name)")).map { Double($0.modified) / 1e9 }
    }.max()
  }

  /// Total length of its files.
  var byteCount: Int {
    FilePath.names(in: path).reduce(0) { sum, name in
      sum + ((try? FileStamp(at: "\(path)/\(name)")).map { Int($0.byteCount) } ?? 0)
    }
  }

  /// Its files that artifacts share. Their bytes are the artifacts'.
  var sharedFiles: [FileStamp] {
    FilePath.names(in: path).compactMap { try? FileStamp(at: "\(path)/\($0)") }
      .filter { $0.isRegularFile && $0.hasSeveralNames }
  }

  /// Total length of the files that it alone holds.
  var ownByteCount: Int { byteCount - sharedFiles.reduce(0) { $0 + Int($1.byteCount) } }

  /// Removes the folder, the lock last; the caller holds the lock. Never fails; the rest is removed
  /// when a store is opened next.
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

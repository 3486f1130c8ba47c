import Glibc
internal import PipelineModel

/// Makes folders that survive a power cut.
struct FolderMaker: Sendable {
  let files: FileOperations

  /// Makes sure that there is a folder at an absolute path. Those that are missing above it are
  /// made too; each is for its owner only, and its name is flushed.
  func make(_ path: String) throws(StoreError) {
    if let stamp = try stamp(of: path) {
      if stamp.isFolder { return }
      throw StoreError(
        "use the folder", path: path, reason: "it is a file",
        advice: "name a folder with --store or SPOOL_STORE")
    }
    let parent = FilePath.folder(of: path)
    if parent != path { try make(parent) }
    try doing("make the folder", path) { () throws(SystemError) in
      try files.makeFolder(path, mode: 0o700)
      try files.flushFolder(parent)
    }
  }

  /// Throws where nothing can be made in the store's folder at `path`; nothing is said of one that is
  /// not there. SQLite takes a medium that may only be read for a file that is missing.
  static func requireWritable(_ path: String) throws(StoreError) {
    // The slash asks for a folder: a file in its place is `make`'s to tell of.
    guard unsafe access(path + "/", W_OK | X_OK) != 0 else { return }
    let cause = SystemError.last
    let way: String
    switch cause.code {
    case EROFS: way = "mount it so that it can be written"
    case EACCES, EPERM: way = "check who owns it and its permissions"
    default: return
    }
    throw StoreError(
      "write in the store", path: path, reason: cause.words,
      advice: "\(way), or name another store with --store; "
        + "spool runs, show, why, check and status read this one as it is")
  }

  /// The stamp of what is at `path`; nil if nothing is.
  private func stamp(of path: String) throws(StoreError) -> FileStamp? {
    do {
      return try FileStamp(following: path)
    } catch {
      if error.code == ENOENT { return nil }
      throw StoreError("use the folder", path: path, error)
    }
  }
}

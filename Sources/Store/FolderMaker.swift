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

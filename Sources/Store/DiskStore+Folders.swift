import Glibc
public import PipelineModel

extension DiskStore {
  /// Makes sure that there is a folder in a user's folder, and those above it; each new one's name
  /// is flushed. Who may look into them, the user has said for all new folders. A link to a folder
  /// is the user's own, and followed.
  public func makeFolder(_ path: String) throws(StoreError) {
    let path = FilePath.absolute(path)
    if let stamp = try? FileStamp(following: path) {
      guard !stamp.isFolder else { return }
      throw StoreError(
        "use the folder", path: path, reason: "there is a file of that name",
        advice: "move it away, or choose another folder with --out")
    }
    let parent = FilePath.folder(of: path)
    if parent != path { try makeFolder(parent) }
    try doing("make the folder", path) { () throws(SystemError) in
      do throws(SystemError) { try files.makeFolder(path, mode: 0o777) } catch {
        // Another process may have made it meanwhile.
        guard error.code == EEXIST else { throw error }
      }
      try files.flushFolder(parent)
    }
  }

  /// Takes a file out of a user's folder, durably; nothing happens where none is. One that this
  /// store did not publish, or that was changed since, stays there, and this throws, unless
  /// `isReplacing`.
  public func withdraw(_ path: String, isReplacing: Bool) throws(StoreError) {
    let path = FilePath.absolute(path)
    guard (try? FileStamp(at: path)) != nil else { return }
    let isOwn = try published(at: path) != nil
    guard isOwn || isReplacing else {
      throw StoreError(
        "take away", path: path,
        reason: "another file is there, which Spool did not write or which was changed since",
        advice: "add --replace to overwrite it, or choose another folder with --out")
    }
    try doing("take away", path) { () throws(SystemError) in
      try files.unlink(path)
      try files.flushFolder(FilePath.folder(of: path))
    }
  }
}

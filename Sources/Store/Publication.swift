import Glibc
internal import Hashing
internal import PipelineModel

/// One file on its way into a user's folder, under a temporary name beside its final one.
struct Publication: ~Copyable {
  /// Where it is written.
  let temporaryPath: String

  /// What the names of temporary files begin with; the process follows.
  static let prefix = ".spool-"

  private let path: String
  private let folder: String
  private let store: DiskStore
  /// Holds the lock by which others know that the temporary file is not abandoned.
  private let temporary: OpenFile

  /// Makes the temporary file, with the permissions that the user gives to new files.
  init(at path: String, in store: DiskStore) throws(StoreError) {
    self.path = path
    self.store = store
    folder = FilePath.folder(of: path)
    try Self.checkFolder(folder)
    store.sweepDrafts(in: folder)
    let name = Self.prefix + AbandonedFiles.newName(for: .current)
    let temporaryPath = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    try store.noteUnfinished(temporaryPath)
    do {
      temporary = try doing("write in", folder) { () throws(SystemError) in
        try store.files.open(temporaryPath, O_RDWR | O_CREAT | O_EXCL, mode: 0o666)
      }
    } catch {
      store.forgetUnfinished(temporaryPath)
      throw error
    }
    self.temporaryPath = temporaryPath
    _ = temporary.tryLock()
  }

  /// Gives the file its final name, durably, and remembers it.
  /// - Returns: its length in bytes.
  func finish(
    _ published: CustodyTables.Published, isReplacing: Bool
  ) throws(StoreError) -> Int {
    let files = store.files
    // Opened anew: the writer may have put another file in the place of the empty one.
    let file = try doing("write", path) { () throws(SystemError) in
      try files.open(temporaryPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    }
    try doing("flush", path) { () throws(SystemError) in try files.flush(file) }

    let before = try store.published(at: path)
    if !isReplacing, let other = before?.recording, let own = published.recording,
      !own.isSameRecording(as: other), !store.isSameFile(own.path, other.path)
    {
      let refusal = StageError(path, holds: other, not: own)
      throw StoreError(
        "write", path: path, reason: refusal.reason ?? refusal.message, advice: refusal.advice)
    }
    if isReplacing || before != nil {
      try replace()
    } else if try !place() {
      guard try isAlreadyThere(file) else {
        throw StoreError(
          "write", path: path,
          reason: "another file is there, which Spool did not write or which was changed since",
          advice: "add --replace to overwrite it, or choose another folder with --out")
      }
      try? files.unlink(temporaryPath)
    }
    let stamp = try doing("write", path) { () throws(SystemError) in try FileStamp(at: path) }
    try store.withDatabase { (database) throws(StoreError) in
      try CustodyTables.publish(
        published, at: path, stamp: stamp, from: temporaryPath, in: &database)
    }
    return Int(stamp.byteCount)
  }

  /// Removes the temporary file.
  func abandon() {
    try? store.files.unlink(temporaryPath)
    store.forgetUnfinished(temporaryPath)
  }

  private func replace() throws(StoreError) {
    try doing("write", path) { () throws(SystemError) in
      try store.files.rename(temporaryPath, to: path)
      try store.files.flushFolder(folder)
    }
  }

  /// Gives the file its final name. - Returns: false if something has that name.
  private func place() throws(StoreError) -> Bool {
    try doing("write", path) { () throws(SystemError) in
      do throws(SystemError) {
        try store.files.rename(temporaryPath, toNew: path)
      } catch {
        if error.code == EEXIST { return false }
        throw error
      }
      do throws(SystemError) {
        try store.files.flushFolder(folder)
      } catch {
        try? store.files.unlink(path)
        throw error
      }
      return true
    }
  }

  /// Whether the file that has the name holds these very bytes; if so, it is made durable.
  private func isAlreadyThere(_ file: borrowing OpenFile) throws(StoreError) -> Bool {
    try doing("compare", path) { () throws(SystemError) in
      guard try FileStamp(at: path).isRegularFile else { return false }
      let other = try store.files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      guard try store.files.haveSameBytes(file, other) else { return false }
      try store.files.flush(other)
      try store.files.flushFolder(folder)
      return true
    }
  }

  private static func checkFolder(_ folder: String) throws(StoreError) {
    let advice = "make the folder, or choose another with --out"
    let stamp = try doing("write in", folder, advice: advice) { () throws(SystemError) in
      try FileStamp(following: folder)
    }
    if !stamp.isFolder {
      throw StoreError("write in", path: folder, reason: "it is not a folder", advice: advice)
    }
  }
}

import Glibc
internal import PipelineModel
internal import Platform

/// A file being written to a user's folder, under a temporary name beside its final one.
struct Publication: ~Copyable {
  let temporaryPath: String

  /// The prefix of temporary names; the process follows.
  static let prefix = ".spool-"

  private let path: String
  private let folder: String
  private let store: DiskStore
  /// Holds the lock that marks the temporary file as in use.
  private let temporary: OpenFile

  /// Makes the temporary file, with the user's umask.
  init(at path: String, in store: DiskStore) throws(SpoolError) {
    self.path = path
    self.store = store
    folder = FilePath.folder(of: path)
    try store.checkDisk(ofExport: path)
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

  /// Gives the file its final name, durably, and records it.
  /// - Returns: its length in bytes.
  func finish(
    _ content: Digest, of source: ExportSource, isReplacing: Bool
  ) throws(SpoolError) -> Int {
    let files = store.files
    // It may have gone right before the temporary file was made.
    try store.checkDisk(ofExport: path)
    // Opened again: the writer may have replaced the empty file.
    let file = try doing("write", path) { () throws(SystemError) in
      try files.open(temporaryPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    }
    try doing("flush", path) { () throws(SystemError) in try files.flush(file) }

    return try Self.alone(in: folder) { () throws(SpoolError) in
      try checkCompanions(of: source)
      return try name(file, content, of: source, isReplacing: isReplacing)
    }
  }

  /// Throws if the place of another export of the run is taken.
  private func checkCompanions(of source: ExportSource) throws(SpoolError) {
    for (other, source) in source.companions.sorted(by: { $0.key < $1.key }) {
      guard (try? FileStamp(at: other)) != nil else { continue }
      if try store.published(at: other) == nil { throw SpoolError(isForeign: other) }
      if let refusal = try store.refusal(toReplace: other, with: source) { throw refusal }
    }
  }

  private func name(
    _ file: borrowing OpenFile, _ content: Digest, of source: ExportSource, isReplacing: Bool
  ) throws(SpoolError) -> Int {
    let files = store.files
    let before = try store.published(at: path)
    if !isReplacing, let refusal = try store.refusal(toReplace: path, with: source) {
      throw SpoolError(
        "write", path, reason: refusal.reason ?? refusal.message, advice: refusal.advice,
        cause: refusal.cause, kind: refusal.kind)
    }
    if isReplacing, before == nil, let refusal = try store.refusal(toReplaceRecording: path) {
      throw refusal
    }
    var isNew = false
    if isReplacing || before != nil {
      try replace()
    } else if try place() {
      isNew = true
    } else {
      guard try isAlreadyThere(file) else {
        throw SpoolError(isForeign: path)
      }
      try? files.unlink(temporaryPath)
    }
    let stamp = try doing("write", path) { () throws(SystemError) in try FileStamp(at: path) }
    do throws(SpoolError) {
      try store.withDatabase { (database) throws(SpoolError) in
        try KnownFileTables.publish(
          KnownFileTables.Published(
            content: content, recording: source.recording, sounds: source.sounds,
            pipeline: source.pipeline),
          at: path, stamp: stamp, from: temporaryPath, in: &database)
      }
    } catch {
      // A file that the store does not know would count as another program's.
      if isNew { try? files.unlink(path) }
      throw error
    }
    return Int(stamp.byteCount)
  }

  func abandon() {
    try? store.files.unlink(temporaryPath)
    store.forgetUnfinished(temporaryPath)
  }

  private func replace() throws(SpoolError) {
    try doing("write", path) { () throws(SystemError) in
      try store.files.rename(temporaryPath, to: path)
      try store.files.flushFolder(folder)
    }
  }

  /// Gives the file its final name.
  /// - Returns: false if the name exists.
  private func place() throws(SpoolError) -> Bool {
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

  /// Whether the existing file holds the same bytes; if so, it is flushed.
  private func isAlreadyThere(_ file: borrowing OpenFile) throws(SpoolError) -> Bool {
    try doing("compare", path) { () throws(SystemError) in
      guard try FileStamp(at: path).isRegularFile else { return false }
      let other = try store.files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      guard try store.files.haveSameBytes(file, other) else { return false }
      try store.files.flush(other)
      try store.files.flushFolder(folder)
      return true
    }
  }

  /// How long the holder of the folder's name, which only renames and flushes, is waited for, in
  /// milliseconds: a stopped process may hold it.
  private static let patience = 10_000

  /// Calls `body` while no other process or thread of this computer does so for the folder. The
  /// folder's own lock is that of a watch. Where no name can be had, it is called as well.
  private static func alone<Result>(
    in folder: String, _ body: () throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    guard let stamp = try? FileStamp(following: folder) else { return try body() }
    let name = "spool-exports-\(stamp.device)-\(stamp.inode)"
    let deadline = Clock.monotonic() + Int64(patience) * 1_000_000
    while Clock.monotonic() < deadline {
      let held: HeldName?
      do throws(SystemError) { held = try HeldName(name) } catch { break }
      if let held {
        defer { extendLifetime(held) }
        return try body()
      }
      usleep(2_000)
    }
    return try body()
  }

  private static func checkFolder(_ folder: String) throws(SpoolError) {
    let advice = "make the folder, or choose another with \(option: .out)"
    let stamp = try doing("write in", folder, advice: advice) { () throws(SystemError) in
      try FileStamp(following: folder)
    }
    if !stamp.isFolder {
      throw SpoolError("write in", folder, reason: "it is not a folder", advice: advice)
    }
  }
}

/// A text in the database with its checksum, which reveals flipped bits: its SHA-256 in hexadecimal
/// digits, a space, and the text.
enum SealedText {
  static func seal(_ text: String) -> String { SHA256.digest(of: text).hex + " " + text }

  /// The stored text; nil if its checksum differs.
  static func open(_ stored: String) -> String? {
    let text = stored.dropFirst(digitCount + 1)
    guard stored.dropFirst(digitCount).first == " ",
      SHA256.digest(of: String(text)).hex == stored.prefix(digitCount)
    else { return nil }
    return String(text)
  }

  private static let digitCount = 64
}

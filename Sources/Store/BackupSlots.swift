import Glibc
internal import PipelineModel

/// The last good copies of the database, newest first.
///
/// ```
/// backups/spool-1.sqlite    the newest
/// backups/spool-2.sqlite
/// backups/spool-3.sqlite
/// ```
struct BackupSlots: Sendable {
  /// How many are kept.
  static let count = 3
  /// How old the newest is before another is made by itself, in nanoseconds.
  private static let interval: Int64 = 24 * 3600 * 1_000_000_000

  let folder: String
  let files: FileOperations
  let schema: Schema

  /// Where the n-th newest is, counted from 1.
  func path(_ number: Int) -> String { "\(folder)/spool-\(number).sqlite" }

  /// The slots that hold anything, newest first.
  var filled: [Int] { (1...Self.count).filter { (try? FileStamp(at: path($0))) != nil } }

  /// The newest copy that is whole and that this Spool can read.
  var newestGood: Int? { filled.first { (try? examine(path($0))) != nil } }

  /// Whether the newest copy is over a day old, or there is none, or its time cannot be right.
  func isDue(now: Int64) -> Bool {
    guard let newest = try? FileStamp(at: path(1)) else { return true }
    return !(0..<Self.interval).contains(now - newest.modified)
  }

  /// Makes a copy, looks whether it is whole, and puts it into the first slot; what was there moves
  /// on, and the oldest goes.
  /// - Returns: false if another process is just doing so.
  func add(_ database: borrowing Database, patience: Int = 0) throws(StoreError) -> Bool {
    try FolderMaker(files: files).make(folder)
    let lock = try FolderLock(folder)
    guard lock.wait(patience: patience, { $0.tryAlone() }) else { return false }
    DraftFolder(path: folder, files: files).sweep()
    let part = "\(folder)/\(AbandonedFiles.newName(for: .current))"
    do {
      try write(database, to: part)
      try doing("keep the backup", path(1)) { () throws(SystemError) in
        try shift()
        try files.rename(part, to: path(1))
        try files.flushFolder(folder)
      }
    } catch {
      try? files.unlink(part)
      throw error
    }
    return true
  }

  /// Writes a copy to any place, looks whether it is whole, and flushes it; its name is the
  /// caller's to flush.
  func write(_ database: borrowing Database, to target: String) throws(StoreError) {
    try doing("write the backup", target) { () throws(SystemError) in
      try files.willPerform(.write(target, byteCount: 0))
    }
    try database.copy(to: target)
    try doing("flush the backup", target) { () throws(SystemError) in
      let file = try files.open(target, O_RDONLY)
      try files.setMode(0o600, of: file)
      try files.flush(file)
    }
    try examine(target)
  }

  /// Throws unless the file is a whole database of a Spool that is not newer than this one.
  func examine(_ path: String) throws(StoreError) {
    var database = try Database(at: path, for: .frozen)
    if let fault = database.faults().first {
      throw StoreError("use the backup", path: path, reason: fault, advice: "choose another one")
    }
    let version = try schema.version(of: &database, path)
    let tables = try database.run(
      "SELECT 1 FROM sqlite_schema WHERE name = 'checkpoints'", to: "read")
    if version == 0 || tables.isEmpty {
      throw StoreError(
        "use the backup", path: path, reason: "it is not a database of Spool's",
        advice: "choose another one")
    }
  }

  /// Makes room in the first slot. Stops at the first gap, which a process that died here left: so
  /// nothing is lost that need not be.
  private func shift() throws(SystemError) {
    let gap = (1...Self.count).first { (try? FileStamp(at: path($0))) == nil } ?? Self.count
    for number in stride(from: gap, to: 1, by: -1) {
      try files.rename(path(number - 1), to: path(number))
    }
  }
}

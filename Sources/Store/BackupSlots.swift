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
  /// What using a backup is called in errors.
  static let using = "use the backup"
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

  /// As `add`, unless the newest copy that is good holds the very same: a change of format that fails
  /// again and again must not push out what is older.
  func addUnlessThere(_ database: borrowing Database) throws(StoreError) {
    let part = "\(folder)/\(AbandonedFiles.newName(for: .current))"
    try FolderMaker(files: files).make(folder)
    defer { try? files.unlink(part) }
    try write(database, to: part)
    if let newest = newestGood, holdSame(part, path(newest)) { return }
    _ = try add(database)
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

  private func holdSame(_ one: String, _ other: String) -> Bool {
    let isSame = try? files.haveSameBytes(
      files.open(one, O_RDONLY), files.open(other, O_RDONLY))
    return isSame == true
  }

  /// Throws unless the file is a whole database of a Spool that is not newer than this one, and can
  /// be written.
  func examine(_ path: String) throws(StoreError) {
    var database = try Database(at: path, for: .frozen)
    let first = try? schema.standing(of: &database)
    if first == nil, let fault = try database.faults().first { throw unusable(path, fault) }
    switch try schema.standing(of: &database) {
    case .newer(let version): throw schema.newer(version, path)
    case .damaged(let reason): throw unusable(path, reason)
    case .blank: throw unusable(path, "it is not a database of Spool's")
    case .ours: break
    }
    if let fault = try database.faults().first { throw unusable(path, fault) }
    if try !DatabaseHeader(of: path).isWritable {
      throw unusable(path, DatabaseCondition.lockedWords)
    }
  }

  private func unusable(_ path: String, _ reason: String) -> StoreError {
    StoreError(Self.using, path: path, reason: reason, advice: "choose another one")
  }

  /// Makes room in the first slot: what moves on ends at the first slot that holds nothing good (a
  /// process may have died here, or a disk lost it). So nothing is lost that need not be.
  private func shift() throws(SystemError) {
    let gap = (1...Self.count).first { (try? examine(path($0))) == nil } ?? Self.count
    for number in stride(from: gap, to: 1, by: -1) {
      try files.rename(path(number - 1), to: path(number))
    }
  }
}

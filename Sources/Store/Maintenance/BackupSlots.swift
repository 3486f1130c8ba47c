import Glibc
internal import PipelineModel
package import Platform

/// The last good copies of the database, newest first.
///
/// ```
/// backups/spool-1.sqlite    the newest
/// backups/spool-2.sqlite
/// backups/spool-3.sqlite
/// ```
struct BackupSlots: Sendable {
  static let count = 3
  static let using = "use the backup"
  /// Age of the newest, in nanoseconds, from which the next is made.
  private static let interval: Int64 = 24 * 3600 * 1_000_000_000

  let folder: String
  let files: FileOperations
  let schema: Schema

  func path(_ number: Int) -> String { "\(folder)/spool-\(number).sqlite" }

  /// The occupied slots, newest first.
  var filled: [Int] { (1...Self.count).filter { (try? FileStamp(at: path($0))) != nil } }

  /// The newest slot that is intact and readable by this Spool.
  var newestGood: Int? { filled.first { (try? examine(path($0))) != nil } }

  /// Whether the newest copy is over a day old, missing, or from the future.
  func isDue(now: Int64) -> Bool {
    guard let newest = try? FileStamp(at: path(1)) else { return true }
    return !(0..<Self.interval).contains(now - newest.modified)
  }

  /// Adds a verified copy in the first slot; the others shift, the oldest is removed.
  /// - Returns: false if another process is adding one.
  func add(_ database: borrowing Database, patience: Int = 0) throws(SpoolError) -> Bool {
    try files.makeFolders(folder)
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

  /// As `add`, unless the newest good copy is identical: a migration that fails repeatedly must not
  /// push out older copies.
  func addUnlessThere(_ database: borrowing Database) throws(SpoolError) {
    let part = "\(folder)/\(AbandonedFiles.newName(for: .current))"
    try files.makeFolders(folder)
    defer { try? files.unlink(part) }
    try write(database, to: part)
    if let newest = newestGood, holdSame(part, path(newest)) { return }
    _ = try add(database)
  }

  /// Writes, verifies and flushes a copy at any path; the caller flushes its name.
  func write(_ database: borrowing Database, to target: String) throws(SpoolError) {
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

  /// Throws unless the file is an intact, writable database of no newer format.
  func examine(_ path: String) throws(SpoolError) {
    var database = try Database(backup: path)
    let first = try? schema.status(of: &database)
    if first == nil, let fault = try database.faults().first { throw unusable(path, fault) }
    switch try schema.status(of: &database) {
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

  private func unusable(_ path: String, _ reason: String) -> SpoolError {
    SpoolError(Self.using, path, reason: reason, advice: "choose another one")
  }

  /// Frees the first slot: shifts up to the first slot without a good copy, so that no good one is
  /// lost needlessly.
  private func shift() throws(SystemError) {
    let gap = (1...Self.count).first { (try? examine(path($0))) == nil } ?? Self.count
    for number in stride(from: gap, to: 1, by: -1) {
      try files.rename(path(number - 1), to: path(number))
    }
  }
}

/// A backup of the database and its state.
package struct BackupSlot: Hashable, Sendable, Encodable {
  /// 1 for the newest.
  package let number: Int
  package let path: String
  package let writtenAt: DateTime
  /// Length in bytes.
  package let byteCount: Int
  /// Why it cannot be restored; nil if it is good.
  package let fault: String?
}

import Glibc
internal import PipelineModel
internal import Platform

/// Rebuilds a lost database from a good backup, if any, and the records and change log beside it.
/// The caller holds the store exclusively.
struct Rebuild {
  let layout: StoreLayout
  let files: FileOperations
  let schema: Schema
  let records: RecordFolder
  let slots: BackupSlots
  let now: Int64

  /// Rebuilds the database and puts it in place; the old one is kept aside.
  ///
  /// The old one is replaced in the last step; after an interruption the next opening repeats the
  /// rebuild.
  func run(because cause: String) throws(SpoolError) -> Recovery {
    let part = DatabaseFiles(path: layout.database + ".part", files: files)
    let (slot, found) = try makeFromNewest(part)
    let aside = try replace(with: part.path, word: "damaged")
    return Recovery(
      cause: cause, slot: slot, checkpoints: found.checkpoints, runs: found.runs,
      recordings: found.recordings, keptAside: aside)
  }

  /// Starts from the newest backup that proves good in use; without any if none does.
  private func makeFromNewest(
    _ part: DatabaseFiles
  ) throws(SpoolError) -> (slot: Int?, found: CatchUp) {
    for slot in slots.filled where (try? slots.examine(slots.path(slot))) != nil {
      do throws(SpoolError) {
        return (slot, try make(part, from: slots.path(slot)))
      } catch {
        if error.isFullDisk { throw error }
      }
    }
    return (nil, try make(part, from: nil))
  }

  /// Replaces the database by a backup and returns the old one's new path.
  /// - Parameter isForeign: whether it is of another store, so that its position in the change log
  ///   does not apply: the next opening takes in all records and the change log.
  func restore(_ backup: String, isForeign: Bool = false) throws(SpoolError) -> String? {
    let part = DatabaseFiles(path: layout.database + ".part", files: files)
    try part.remove()
    try files.copyFile(from: backup, to: part.path)
    if isForeign { try forgetChangeLog(part) }
    try slots.examine(part.path)
    return try replace(with: part.path, word: "replaced")
  }

  private func forgetChangeLog(_ part: DatabaseFiles) throws(SpoolError) {
    do throws(SpoolError) {
      var database = try Database(at: part.path)
      try schema.migrate(&database, at: part.path)
      try ChangeLog.record(
        ChangeLog.State(generation: 0, byteCount: 0, firstByteCount: 0, number: 0), in: &database)
      try database.run("PRAGMA wal_checkpoint(TRUNCATE)", to: "write")
      _ = consume database
    } catch {
      try? part.remove()
      throw error
    }
  }

  private func replace(with part: String, word: String) throws(SpoolError) -> String? {
    let current = DatabaseFiles(path: layout.database, files: files)
    var aside: String?
    if DatabaseCondition(at: layout.database) == .blank {
      try current.remove()
    } else {
      aside = try current.moveAside(word, now: now)
    }
    try current.place(part)
    return aside
  }

  /// Writes a complete database.
  /// - Returns: what came from records and the change log.
  private func make(
    _ part: DatabaseFiles, from backup: String?
  ) throws(SpoolError) -> CatchUp {
    try part.remove()
    if let backup { try files.copyFile(from: backup, to: part.path) }
    do throws(SpoolError) {
      var database = try Database(at: part.path)
      try schema.migrate(&database, at: part.path)
      var counts = CatchUp()
      try database.transaction(to: "read the records into") { (database) throws(SpoolError) in
        try adoptAll(into: &database, &counts)
      }
      let lines = try ChangeLog(records: records).catchUp(&database, with: self)
      counts.checkpoints += lines.checkpoints
      counts.runs += lines.runs
      counts.recordings = lines.recordings
      try database.run("PRAGMA wal_checkpoint(TRUNCATE)", to: "write")
      _ = consume database
      let log = (try? FileStamp(at: part.path + "-wal"))?.byteCount ?? 0
      guard log == 0 else {
        throw SpoolError("write", part.path, reason: "not all of it reached the disk")
      }
      return counts
    } catch {
      try? part.remove()
      throw error
    }
  }

  /// Takes in records that the database lacks, and removes references to missing files, inside a
  /// transaction.
  func adoptAll(into database: inout Database, _ news: inout CatchUp) throws(SpoolError) {
    try strikeMissing(from: &database)
    for path in records.checkpointPaths where try adoptCheckpoint(at: path, into: &database) {
      news.checkpoints += 1
    }
    for path in records.runPaths where try adoptRun(at: path, into: &database) { news.runs += 1 }
    for path in records.pinPaths {
      if let pin = try records.pin(at: path) { try PinTable.write(pin, to: &database) }
    }
  }

  /// Takes in a line of the change log, inside a transaction.
  func adopt(
    _ line: ChangeLogLine, into database: inout Database, _ news: inout CatchUp
  ) throws(SpoolError) {
    switch line.kind {
    case .checkpoint:
      guard let key = Digest(hex: line.payload).map(Checkpoint.Key.init) else { return }
      if try adoptCheckpoint(at: records.path(of: key), into: &database) { news.checkpoints += 1 }
    case .run:
      let path = records.path(of: RunID(line.payload))
      if try adoptRun(at: path, into: &database) { news.runs += 1 }
    case .recording:
      let rows = String(line.rows)
      guard try RecordingRows.recording(String(line.subject), in: &database) != rows else { return }
      try RecordingRows.putRecording(rows, into: &database)
      news.countRecording(line.subject)
    case .notePart:
      if try RecordingRows.addPart(String(line.rows), into: &database) {
        news.countRecording(line.subject)
      }
    case .command: try RecordingRows.putCommand(String(line.rows), into: &database)
    case .head: break
    }
  }

  private func adoptCheckpoint(
    at path: String, into database: inout Database
  ) throws(SpoolError) -> Bool {
    guard let checkpoint = try records.checkpoint(at: path)?.backed(where: layout.holds),
      try isNews(checkpoint, to: &database)
    else { return false }
    try CheckpointTable.write(checkpoint, to: &database)
    return true
  }

  /// A run that was running when its record was written counts as interrupted; if its process is
  /// alive, its next write corrects that.
  private func adoptRun(
    at path: String, into database: inout Database
  ) throws(SpoolError) -> Bool {
    guard let recorded = try records.recordedRun(at: path) else { return false }
    var run = recorded.run
    let hasEnded = run.state != .running
    let known = try database.run(
      "SELECT state FROM runs WHERE id = ?", [.text(run.id.name)], to: "read runs in"
    ).first?[0].text
    if let known, !hasEnded || known != RunRecord.State.running.rawValue { return false }
    if !hasEnded { run.state = .cutOff }
    try RunTable.write(RecordedRun(run, number: recorded.number), to: &database)
    return true
  }

  private func strikeMissing(from database: inout Database) throws(SpoolError) {
    let rows = try database.run(
      "SELECT DISTINCT artifact, byte_count FROM outputs WHERE artifact IS NOT NULL", to: "read")
    for row in rows {
      guard let digest = row[0].text.flatMap(Digest.init(hex:)), let count = row[1].integer else {
        continue
      }
      if !layout.holds(Artifact(kind: .file, digest: digest, byteCount: Int(count))) {
        _ = try CheckpointTable.strike(digest, from: &database)
      }
    }
  }

  /// Whether a record has more than the database. A contradicting record wins: it has a checksum.
  private func isNews(
    _ record: Checkpoint, to database: inout Database
  ) throws(SpoolError) -> Bool {
    guard let rows = try CheckpointTable.checkpoint(for: record.key, in: &database) else {
      try CheckpointTable.remove(record.key.digest.hex, from: &database)
      return true
    }
    switch RecordRelation(record: record, rows: rows) {
    case .same, .behind: return false
    case .ahead: return true
    case .contradiction:
      // A backup may hold an older version: it is removed, so that the two are not mixed.
      try CheckpointTable.remove(record.key.digest.hex, from: &database)
      return true
    }
  }
}

/// How a lost or damaged database was recovered.
package struct Recovery: Hashable, Sendable, Codable {
  /// The fault, in SQLite's own words if it has some.
  package let cause: String
  /// The backup used, 1 for the newest; nil if there was no good one.
  package let slot: Int?
  /// Checkpoints from records.
  package let checkpoints: Int
  /// Runs from records.
  package let runs: Int
  /// Recordings from the change log.
  package let recordings: Int
  /// The path of the damaged database; nil if there was none.
  package let keptAside: String?

  private enum CodingKeys: String, CodingKey {
    case cause, slot, checkpoints, runs, recordings = "notes", keptAside
  }

  package var line: String {
    let aside = keptAside.map { "; the damaged one is kept as \($0)" } ?? ""
    return "\(DatabaseLoss.line(cause)) and was made again from \(DatabaseLoss.source(slot)): "
      + "\(checkpoints) \(checkpoints == 1 ? "checkpoint" : "checkpoints") and "
      + "\(runs) \(runs == 1 ? "run" : "runs") from records"
      + (recordings == 0
        ? "" : ", \(recordings) \(recordings == 1 ? "note" : "notes") from the ledger") + aside
  }
}

/// What a database had lost and was restored.
struct CatchUp: Hashable, Sendable {
  var checkpoints = 0
  var runs = 0
  var recordings = 0
  /// The counted recordings: several lines may be about one.
  private var counted: Set<String> = []

  init() {}

  mutating func countRecording(_ key: Substring) {
    if counted.insert(String(key)).inserted { recordings += 1 }
  }

  var isEmpty: Bool { checkpoints == 0 && runs == 0 && recordings == 0 }

  /// `2 checkpoints, 1 run`.
  var words: String {
    [(checkpoints, "checkpoint"), (runs, "run"), (recordings, "note")]
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
      .joined(separator: ", ")
  }

  var line: String {
    "the store's database knew less than the records beside it, and took them in: \(words)"
  }
}

/// A database and the two files that SQLite keeps beside it.
struct DatabaseFiles: Sendable {
  let path: String
  let files: FileOperations

  private var log: String { path + "-wal" }
  private var index: String { path + "-shm" }

  /// Removes those of the three that exist.
  func remove() throws(SpoolError) {
    for path in [log, index, path] {
      try doing("remove", path) { () throws(SystemError) in try files.unlinkIfThere(path) }
    }
  }

  /// Renames the database and its log, so that the log is not applied to a replacement.
  /// - Parameter word: why it is kept: `damaged`.
  /// - Returns: the new path; nil if there was none.
  func moveAside(_ word: String, now: Int64) throws(SpoolError) -> String? {
    let aside = freeName("\(path).\(word)-\(Self.stamp(now))")
    return try doing("move aside", path) { () throws(SystemError) in
      var isMoved = true
      do throws(SystemError) {
        try files.rename(path, toNew: aside)
      } catch {
        if error.code != ENOENT { throw error }
        isMoved = false
      }
      if let stamp = try? FileStamp(at: log), stamp.byteCount > 0 {
        try files.rename(log, toNew: aside + "-wal")
      } else {
        try files.unlinkIfThere(log)
      }
      try files.unlinkIfThere(index)
      // Flushed before a replacement comes: old and new names must not mix after a power cut.
      try files.flushFolder(FilePath.folder(of: path))
      return isMoved ? aside : nil
    }
  }

  /// Puts a complete, closed database in place.
  func place(_ part: String) throws(SpoolError) {
    try doing("put in place", path) { () throws(SystemError) in
      let file = try files.open(part, O_RDONLY)
      try files.flush(file)
      try files.rename(part, to: path)
      try files.flushFolder(FilePath.folder(of: path))
    }
  }

  private func freeName(_ name: String) -> String {
    var (free, number) = (name, 2)
    while (try? FileStamp(at: free)) != nil {
      free = "\(name)-\(number)"
      number += 1
    }
    return free
  }

  /// `20261121-142205`, in UTC.
  private static func stamp(_ now: Int64) -> String {
    var time = time_t(now / 1_000_000_000)
    var parts = unsafe tm()
    unsafe gmtime_r(&time, &parts)
    func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date = unsafe "\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))"
    return unsafe "\(date)-\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))"
  }
}

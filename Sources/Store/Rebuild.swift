import Glibc
internal import Hashing
internal import PipelineModel

/// Makes a lost database again: from a backup where there is a good one, and from the records that
/// lie beside it. Whoever calls it has the store alone.
struct Rebuild {
  let layout: StoreLayout
  let files: FileOperations
  let schema: Schema
  let records: RecordFolder
  let slots: BackupSlots
  /// The time in nanoseconds since 1970.
  let now: Int64

  /// Makes the database again and puts it in place; what was there is kept aside.
  ///
  /// Until the very last step the old one is where it was, or nothing is: then the next opening
  /// does all of this again.
  func run(because cause: String) throws(StoreError) -> Recovery {
    let part = DatabaseFiles(path: layout.database + ".part", files: files)
    let (slot, found) = try makeFromNewest(part)
    let aside = try replace(with: part.path, word: "damaged")
    return Recovery(
      cause: cause, slot: slot, checkpoints: found.checkpoints, runs: found.runs,
      notes: found.notes, keptAside: aside)
  }

  /// Begins with the newest slot that turns out to be good in use too; with none where no one does.
  private func makeFromNewest(
    _ part: DatabaseFiles
  ) throws(StoreError) -> (slot: Int?, found: CatchUp) {
    for slot in slots.filled where (try? slots.examine(slots.path(slot))) != nil {
      do throws(StoreError) {
        return (slot, try make(part, from: slots.path(slot)))
      } catch {
        if error.isFullDisk { throw error }
      }
    }
    return (nil, try make(part, from: nil))
  }

  /// Puts a backup in the place of the database, as it is. - Returns: where the old one is kept.
  /// - Parameter isForeign: whether it is of another store, so that what it says of the ledger is not said
  ///   of this one's: the next opening takes in all that the records and the ledger know.
  func restore(_ backup: String, isForeign: Bool = false) throws(StoreError) -> String? {
    let part = DatabaseFiles(path: layout.database + ".part", files: files)
    try part.remove()
    try FileCopy(files: files).copy(from: backup, to: part.path)
    if isForeign { try forgetLedger(part) }
    try slots.examine(part.path)
    return try replace(with: part.path, word: "replaced")
  }

  private func forgetLedger(_ part: DatabaseFiles) throws(StoreError) {
    do throws(StoreError) {
      var database = try Database(at: part.path)
      try schema.migrate(&database, at: part.path)
      try Ledger.record(
        Ledger.Standing(generation: 0, byteCount: 0, firstByteCount: 0, number: 0), in: &database)
      try database.run("PRAGMA wal_checkpoint(TRUNCATE)", to: "write")
      _ = consume database
    } catch {
      try? part.remove()
      throw error
    }
  }

  private func replace(with part: String, word: String) throws(StoreError) -> String? {
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

  /// Writes a whole database. - Returns: how much of it came from records.
  private func make(
    _ part: DatabaseFiles, from backup: String?
  ) throws(StoreError) -> CatchUp {
    try part.remove()
    if let backup { try FileCopy(files: files).copy(from: backup, to: part.path) }
    do throws(StoreError) {
      var database = try Database(at: part.path)
      try schema.migrate(&database, at: part.path)
      let adopted = try adopt(into: &database)
      let lines = try Ledger(records: records).catchUp(&database, with: self)
      let counts = CatchUp(
        checkpoints: adopted.checkpoints + lines.checkpoints, runs: adopted.runs + lines.runs,
        notes: lines.notes)
      try database.run("PRAGMA wal_checkpoint(TRUNCATE)", to: "write")
      _ = consume database
      let log = (try? FileStamp(at: part.path + "-wal"))?.byteCount ?? 0
      guard log == 0 else {
        throw StoreError("write", path: part.path, reason: "not all of it reached the disk")
      }
      return counts
    } catch {
      try? part.remove()
      throw error
    }
  }

  /// Takes in what the records know and the database does not, and strikes what refers to files
  /// that are not there.
  func adopt(into database: inout Database) throws(StoreError) -> (checkpoints: Int, runs: Int) {
    try database.transaction(to: "read the records into") { (database) throws(StoreError) in
      try adoptAll(into: &database)
    }
  }

  /// The same, inside a transaction.
  func adoptAll(into database: inout Database) throws(StoreError) -> (checkpoints: Int, runs: Int) {
    try strikeMissing(from: &database)
    var (checkpoints, runs) = (0, 0)
    for path in records.checkpointPaths where try adoptCheckpoint(at: path, into: &database) {
      checkpoints += 1
    }
    for path in records.runPaths where try adoptRun(at: path, into: &database) { runs += 1 }
    for path in records.pinPaths {
      if let pin = try records.pin(at: path) { try PinTable.write(pin, to: &database) }
    }
    return (checkpoints, runs)
  }

  /// Takes in what a line of the ledger tells of, inside a transaction.
  func adopt(
    _ line: LedgerLine, into database: inout Database, _ news: inout CatchUp
  ) throws(StoreError) {
    switch line.kind {
    case .checkpoint:
      guard let key = Digest(hex: line.payload).map(Checkpoint.Key.init) else { return }
      if try adoptCheckpoint(at: records.path(of: key), into: &database) { news.checkpoints += 1 }
    case .run:
      let path = records.path(of: RunID(line.payload))
      if try adoptRun(at: path, into: &database) { news.runs += 1 }
    case .note:
      let rows = String(line.rows)
      guard try NoteRows.note(String(line.subject), in: &database) != rows else { return }
      try NoteRows.putNote(rows, into: &database)
      news.countNote(line.subject)
    case .notePart:
      if try NoteRows.addPart(String(line.rows), into: &database) { news.countNote(line.subject) }
    case .command: try NoteRows.putCommand(String(line.rows), into: &database)
    case .head: break
    }
  }

  private func adoptCheckpoint(
    at path: String, into database: inout Database
  ) throws(StoreError) -> Bool {
    guard let checkpoint = try records.checkpoint(at: path)?.backed(where: layout.holds),
      try isNews(checkpoint, to: &database)
    else { return false }
    try CheckpointTable.write(checkpoint, to: &database)
    return true
  }

  /// A run that had not ended when its record was written was cut off, as far as anybody knows: if
  /// its process is alive, it says otherwise when it writes next.
  private func adoptRun(
    at path: String, into database: inout Database
  ) throws(StoreError) -> Bool {
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

  private func strikeMissing(from database: inout Database) throws(StoreError) {
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

  /// Whether a record knows what the database does not. One that contradicts it wins: it vouches
  /// for itself with a digest.
  private func isNews(
    _ record: Checkpoint, to database: inout Database
  ) throws(StoreError) -> Bool {
    guard let rows = try CheckpointTable.checkpoint(for: record.key, in: &database) else {
      try CheckpointTable.remove(record.key.digest.hex, from: &database)
      return true
    }
    switch RecordRelation(record: record, rows: rows) {
    case .same, .behind: return false
    case .ahead: return true
    case .contradiction:
      // An older backup may hold an older version: it goes, so that nothing of both is mixed.
      try CheckpointTable.remove(record.key.digest.hex, from: &database)
      return true
    }
  }
}

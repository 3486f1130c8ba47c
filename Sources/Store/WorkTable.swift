internal import Hashing
internal import PipelineModel

/// Work under way as rows: who has it, and what it has noted.
///
/// Epochs and generations come from one counter that never goes back, so that no claim and no
/// folder is ever taken for an earlier one, not even of work that ended and was begun again.
enum WorkTable {
  private static let columns =
    "work, generation, epoch, owner, claimed_at, note, noted_at, touched_since_boot, spent_seconds"

  /// What is known of a piece of work; nil if it was never claimed, or has ended.
  static func entry(
    for work: Digest, in database: inout Database
  ) throws(StoreError) -> WorkEntry? {
    try database.run(
      "SELECT \(columns) FROM work WHERE work = ?", [.text(work.hex)], to: "read work in"
    ).first.flatMap(entry)
  }

  /// All that is known.
  static func entries(in database: inout Database) throws(StoreError) -> [WorkEntry] {
    try database.run("SELECT \(columns) FROM work", to: "read work in").compactMap(entry)
  }

  /// Makes work known, so that all who claim it at once meet in one folder.
  static func register(
    _ work: Digest, at now: Double, in database: inout Database
  ) throws(StoreError) {
    let action = "claim work in"
    try database.transaction(to: action) { (database) throws(StoreError) in
      let number = try nextNumber(in: &database, to: action)
      try database.run(
        """
        INSERT INTO work (work, generation, epoch, summary, claimed_at) VALUES (?1, ?2, ?2, '', ?3)
        ON CONFLICT (work) DO NOTHING
        """, [.text(work.hex), .integer(number), .real(now)], to: action)
    }
  }

  /// Gives work to this process, and takes it from whoever had it.
  /// - Returns: how things stood until now, and the epoch of the claim; nil if the work has ended or
  ///   was begun anew elsewhere.
  static func claim(
    _ entry: WorkEntry, summary: String, at now: Double,
    sinceBoot: Double = Double(Clock.sinceBoot()) / 1e9, in database: inout Database
  ) throws(StoreError) -> (before: WorkEntry, epoch: Int64)? {
    let action = "claim work in"
    return try database.transaction(to: action) { (database) throws(StoreError) in
      guard let before = try self.entry(for: entry.work, in: &database),
        before.generation == entry.generation
      else { return nil }
      let epoch = try nextNumber(in: &database, to: action)
      try database.run(
        """
        UPDATE work SET epoch = ?, owner = ?, summary = ?, claimed_at = ?, touched_since_boot = ?,
          spent_seconds = ?
        WHERE work = ?
        """,
        [
          .integer(epoch), .text(ProcessIdentity.current.description), .text(summary), .real(now),
          .real(sinceBoot), .real(before.damagedNoteAt == nil ? before.notedSeconds : 0),
          .text(entry.work.hex),
        ], to: action)
      return (before, epoch)
    }
  }

  /// Leaves the folder of a claim to the frozen process that holds it: the work is begun anew in
  /// another, and whatever that process writes when it wakes counts no more. Does nothing if the
  /// claim is not the last any more.
  static func beginAnew(
    _ entry: WorkEntry, at now: Double, in database: inout Database
  ) throws(StoreError) {
    let action = "claim work in"
    try database.transaction(to: action) { (database) throws(StoreError) in
      let number = try nextNumber(in: &database, to: action)
      try database.run(
        """
        UPDATE work SET generation = ?1, epoch = ?1, owner = NULL, claimed_at = ?2, note = NULL,
          noted_at = NULL, touched_since_boot = NULL, spent_seconds = NULL WHERE work = ?3 AND epoch = ?4
        """,
        [.integer(number), .real(now), .text(entry.work.hex), .integer(entry.epoch)], to: action)
    }
  }

  /// Notes progress. - Returns: false, and notes nothing, if the claim of this epoch was lost.
  static func note(
    _ text: String, of work: Digest, epoch: Int64, at now: Double,
    sinceBoot: Double = Double(Clock.sinceBoot()) / 1e9, in database: inout Database
  ) throws(StoreError) -> Bool {
    let action = "note progress in"
    return try database.transaction(to: action) { (database) throws(StoreError) in
      guard try holds(work, epoch: epoch, in: &database) else { return false }
      try database.run(
        "UPDATE work SET note = ?, noted_at = ?, touched_since_boot = ? WHERE work = ?",
        [.text(SealedText.seal(text)), .real(now), .real(sinceBoot), .text(work.hex)], to: action)
      return true
    }
  }

  /// Whether the claim of this epoch is the last one of the work.
  static func holds(
    _ work: Digest, epoch: Int64, in database: inout Database
  ) throws(StoreError) -> Bool {
    try !database.run(
      "SELECT 1 FROM work WHERE work = ? AND epoch = ?", [.text(work.hex), .integer(epoch)],
      to: "read work in"
    ).isEmpty
  }

  /// Forgets work, unless it was claimed again after the claim of this epoch.
  static func remove(
    _ work: Digest, epoch: Int64, in database: inout Database
  ) throws(StoreError) {
    try database.run(
      "DELETE FROM work WHERE work = ? AND epoch = ?", [.text(work.hex), .integer(epoch)],
      to: "end work in")
  }

  /// A number that is greater than all before it, inside a transaction.
  static func nextNumber(
    in database: inout Database, to action: String
  ) throws(StoreError) -> Int64 {
    let rows = try database.run("UPDATE epochs SET last = last + 1 RETURNING last", to: action)
    guard let number = rows.first?.first?.integer else {
      throw StoreError(action, path: "the store", reason: "its counter of epochs is gone")
    }
    return number
  }

  private static func entry(_ row: SQLRow) -> WorkEntry? {
    guard let work = row[0].text.flatMap(Digest.init(hex:)), let generation = row[1].integer,
      let epoch = row[2].integer, let claimedAt = row[4].real
    else { return nil }
    var note: JournalNote?
    if let text = row[5].text.flatMap(SealedText.open), let notedAt = row[6].real {
      note = JournalNote(text: text, notedAt: notedAt)
    }
    return WorkEntry(
      work: work, generation: generation, epoch: epoch,
      owner: row[3].text.flatMap { ProcessIdentity($0) }, claimedAt: claimedAt, note: note,
      touchedSinceBoot: row[7].real, spentSeconds: row[8].real ?? 0,
      damagedNoteAt: note == nil ? row[6].real : nil)
  }
}

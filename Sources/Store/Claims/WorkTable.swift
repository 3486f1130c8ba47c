internal import PipelineModel
internal import Platform

/// Unfinished work as rows: its owner and its journal entry.
///
/// Epochs and generations come from one monotonic counter, so that no claim or folder is mistaken
/// for an earlier one.
enum WorkTable {
  private static let columns =
    "work, generation, epoch, owner, claimed_at, note, noted_at, touched_since_boot, spent_seconds"

  /// The row of a piece of work; nil if it was never claimed or has ended.
  static func entry(
    for work: Digest, in database: inout Database
  ) throws(SpoolError) -> WorkEntry? {
    try database.run(
      "SELECT \(columns) FROM work WHERE work = ?", [.text(work.hex)], to: "read work in"
    ).first.flatMap(entry)
  }

  static func entries(in database: inout Database) throws(SpoolError) -> [WorkEntry] {
    try database.run("SELECT \(columns) FROM work", to: "read work in").compactMap(entry)
  }

  /// Registers work, so that all who claim it at once meet in one folder.
  static func register(
    _ work: Digest, at now: Double, in database: inout Database
  ) throws(SpoolError) {
    let action = "claim work in"
    try database.transaction(to: action) { (database) throws(SpoolError) in
      let number = try nextNumber(in: &database, to: action)
      try database.run(
        """
        INSERT INTO work (work, generation, epoch, summary, claimed_at) VALUES (?1, ?2, ?2, '', ?3)
        ON CONFLICT (work) DO NOTHING
        """, [.text(work.hex), .integer(number), .real(now)], to: action)
    }
  }

  /// Transfers work to this process.
  /// - Returns: the previous state and the claim's epoch; nil if the work has ended or moved to
  ///   another folder.
  static func claim(
    _ entry: WorkEntry, summary: String, at now: Double,
    sinceBoot: Double = Double(Clock.sinceBoot()) / 1e9, in database: inout Database
  ) throws(SpoolError) -> (before: WorkEntry, epoch: Int64)? {
    let action = "claim work in"
    return try database.transaction(to: action) { (database) throws(SpoolError) in
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

  /// Abandons a claim's folder to the stopped process that holds it: the work starts over in
  /// another, and that process's later writes are rejected. Does nothing if the claim is no longer
  /// the last.
  static func beginAnew(
    _ entry: WorkEntry, at now: Double, in database: inout Database
  ) throws(SpoolError) {
    let action = "claim work in"
    try database.transaction(to: action) { (database) throws(SpoolError) in
      let number = try nextNumber(in: &database, to: action)
      try database.run(
        """
        UPDATE work SET generation = ?1, epoch = ?1, owner = NULL, claimed_at = ?2, note = NULL,
          noted_at = NULL, touched_since_boot = NULL, spent_seconds = NULL WHERE work = ?3 AND epoch = ?4
        """,
        [.integer(number), .real(now), .text(entry.work.hex), .integer(entry.epoch)], to: action)
    }
  }

  /// Records progress.
  /// - Returns: false, without a write, if the claim of this epoch was lost.
  static func record(
    _ text: String, of work: Digest, epoch: Int64, at now: Double,
    sinceBoot: Double = Double(Clock.sinceBoot()) / 1e9, in database: inout Database
  ) throws(SpoolError) -> Bool {
    let action = "note progress in"
    return try database.transaction(to: action) { (database) throws(SpoolError) in
      guard try holds(work, epoch: epoch, in: &database) else { return false }
      try database.run(
        "UPDATE work SET note = ?, noted_at = ?, touched_since_boot = ? WHERE work = ?",
        [.text(SealedText.seal(text)), .real(now), .real(sinceBoot), .text(work.hex)], to: action)
      return true
    }
  }

  /// Whether the claim of this epoch is the work's last.
  static func holds(
    _ work: Digest, epoch: Int64, in database: inout Database
  ) throws(SpoolError) -> Bool {
    try !database.run(
      "SELECT 1 FROM work WHERE work = ? AND epoch = ?", [.text(work.hex), .integer(epoch)],
      to: "read work in"
    ).isEmpty
  }

  /// Removes work, unless it was claimed again later.
  static func remove(
    _ work: Digest, epoch: Int64, in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      "DELETE FROM work WHERE work = ? AND epoch = ?", [.text(work.hex), .integer(epoch)],
      to: "end work in")
  }

  /// The next value of the monotonic counter, inside a transaction.
  static func nextNumber(
    in database: inout Database, to action: String
  ) throws(SpoolError) -> Int64 {
    let rows = try database.run("UPDATE epochs SET last = last + 1 RETURNING last", to: action)
    guard let number = rows.first?.first?.integer else {
      throw SpoolError(action, "the store", reason: "its counter of epochs is gone")
    }
    return number
  }

  private static func entry(_ row: SQLRow) -> WorkEntry? {
    guard let work = row[0].text.flatMap(Digest.init(hex:)), let generation = row[1].integer,
      let epoch = row[2].integer, let claimedAt = row[4].real
    else { return nil }
    var recording: JournalEntry?
    if let text = row[5].text.flatMap(SealedText.open), let notedAt = row[6].real {
      recording = JournalEntry(text: text, notedAt: notedAt)
    }
    return WorkEntry(
      work: work, generation: generation, epoch: epoch,
      owner: row[3].text.flatMap { ProcessIdentity($0) }, claimedAt: claimedAt,
      recording: recording,
      touchedSinceBoot: row[7].real, spentSeconds: row[8].real ?? 0,
      damagedNoteAt: recording == nil ? row[6].real : nil)
  }
}

/// What earlier processes did of a piece of work.
struct ClaimHistory: Hashable, Sendable {
  /// Upper bound of the lost work, in seconds; nil without an earlier owner.
  private(set) var lostSeconds: Double?
  /// Seconds of work in the journal entry.
  private(set) var spentSeconds = 0.0
  /// Why the work starts over; nil if it resumes.
  private(set) var loss: RestartReason?

  /// Adds a process that died.
  /// - Parameter lost: its work after the last journal entry, in seconds; nil without an owner.
  mutating func left(by entry: WorkEntry, lost: Double?) {
    guard let lost else { return }
    lostSeconds = lost
    spentSeconds = entry.notedSeconds
    loss = nil
    guard entry.damagedNoteAt != nil else { return }
    loss = .damagedNote
    loseAll()
  }

  /// Adds a stopped process that lost the work: none of it can be resumed, because that process may
  /// wake and write.
  mutating func takenOver(from entry: WorkEntry, lost: Double?) {
    lostSeconds = lost ?? 0
    spentSeconds = entry.notedSeconds
    loss = .takenOver(from: entry.visibleOwner)
    loseAll()
  }

  private mutating func loseAll() {
    lostSeconds = (lostSeconds ?? 0) + spentSeconds
    spentSeconds = 0
  }
}

import Glibc
import PipelineModel
import Platform

/// Finds and restores lost transactions.
extension ChangeLog {
  /// What the log has beyond the database.
  private enum Surplus {
    case none
    /// Records after those that the database knows.
    case tail
    /// The database is older than this log file.
    case everything(Newest)
  }

  /// The log file with the last transaction.
  private struct Newest {
    let generation: Int64
    /// The last transaction's number.
    let number: Int64
    /// Whether all rows of its beginning can be read, and no later record is damaged.
    let isWhole: Bool
  }

  /// Whether a record of this log ends where the database takes its end to be.
  private func isEnd(_ state: State) throws(SpoolError) -> Bool {
    var hasNext = false
    try read(state.generation, from: state.byteCount, upTo: state.byteCount + 1) { _ in
      hasNext = true
    }
    if hasNext { return true }
    return try read(state.generation, upTo: state.byteCount) { _ in }.end == state.byteCount
  }

  /// Compares both; two stat calls if nothing is wrong.
  private func surplus(_ state: State) throws(SpoolError) -> Surplus {
    let length = byteCount(state.generation)
    // A database without a log may be new, or rebuilt from an older one.
    let hasNext =
      state.generation == 0
      ? !isEmpty : byteCount(state.generation + 1) != nil
    if length ?? 0 == state.byteCount, !hasNext { return .none }
    if !hasNext, let length, length > state.byteCount, try isEnd(state) { return .tail }
    guard let newest = try newest() else { return .none }
    // A log file of an uncommitted transaction is older than what followed; and a log that was cut
    // short, or copied before the database, knows less than it.
    if state.generation > 0, newest.number <= state.number { return .none }
    return .everything(newest)
  }

  /// Whether the log has more than one transaction that the database lacks: one may be that of a dead
  /// process, or about to commit.
  func isAhead(of state: State) throws(SpoolError) -> Bool {
    switch try surplus(state) {
    case .none: return false
    case .tail:
      var count = 0
      try read(state.generation, from: state.byteCount) { (_) throws(SpoolError) in count += 1 }
      return count > 1
    case .everything: return true
    }
  }

  private func newest() throws(SpoolError) -> Newest? {
    var newest: Newest?
    for generation in generations {
      var hasBeginning = false
      let reading = try read(generation) { if $0.changes.isEmpty { hasBeginning = true } }
      if let last = reading.number, last >= newest?.number ?? last {
        newest = Newest(
          generation: generation, number: last, isWhole: hasBeginning && reading.skipped == 0)
      }
    }
    return newest
  }

  /// Restores what the database lacks, in one transaction, and returns the counts.
  func catchUp(_ database: inout Database) throws(SpoolError) -> CatchUp {
    if case .none = try surplus(Self.state(in: &database)) { return CatchUp() }
    return try database.transaction(to: "read the change log into", isRecorded: false) {
      (database) throws(SpoolError) in
      // Again under the lock: the surplus may have been a transaction in progress.
      var state = try Self.state(in: &database)
      var news = CatchUp()
      switch try surplus(state) {
      case .none: return news
      case .tail:
        let reading = try apply(state.generation, from: state.byteCount, to: &database, &news)
        state.byteCount = reading.end
        state.number = max(state.number, reading.number ?? 0)
        try Self.raiseNumber(to: state.number, in: &database)
        // Nothing may follow the damage.
        if reading.skipped > 0 { try begin(&state, in: &database) }
      case .everything(let newest):
        // Another store's rows stay, whose place in this log is unknown, and all rows where some of
        // the log cannot be read.
        let known = try CatchUp(of: &database)
        if state.generation > 0, newest.isWhole { try Self.clear(&database) }
        try apply(newest.generation, to: &database, &news)
        news.subtract(known)
        try CheckpointTable.strikeMissing(in: layout, from: &database)
        try Self.raiseNumber(to: newest.number, in: &database)
        state.number = try WorkTable.nextNumber(in: &database, to: Self.action)
        try begin(&state, in: &database)
      }
      try RecordingTable.countChange(in: &database)
      try Self.record(state, in: &database)
      return news
    }
  }

  /// Applies the records of a log file, and counts them.
  @discardableResult
  private func apply(
    _ generation: Int64, from start: Int64 = 0, to database: inout Database, _ news: inout CatchUp
  ) throws(SpoolError) -> Reading {
    let reading = try read(generation, from: start) { (record) throws(SpoolError) in
      try database.apply(record.changes, to: Self.action)
      news.count(record.changes)
    }
    news.unreadByteCount += Int(
      reading.skipped + max(0, (byteCount(generation) ?? 0) - reading.end))
    if reading.skipped > 0 { try Self.removeOrphans(from: &database) }
    return reading
  }

  /// Removes rows whose parents were in a damaged record: the commit would fail.
  private static func removeOrphans(from database: inout Database) throws(SpoolError) {
    try database.script("PRAGMA defer_foreign_keys = ON", to: action)
    for child in tables {
      let keys = try database.run(
        """
        SELECT "table", group_concat('p.' || "to" || ' = c.' || "from", ' AND ')
        FROM pragma_foreign_key_list(?) GROUP BY id
        """, [.text(child)], to: action)
      for key in keys {
        guard let parent = key[0].text, let match = key[1].text else { continue }
        try database.run(
          "DELETE FROM \(child) AS c WHERE NOT EXISTS (SELECT 1 FROM \(parent) AS p WHERE \(match))",
          to: action)
      }
    }
  }

  private static func clear(_ database: inout Database) throws(SpoolError) {
    for table in tables.reversed() { try database.run("DELETE FROM \(table)", to: action) }
  }

  /// Later numbers must exceed all that were found, whatever the clock said when the counter began
  /// and however much of it was lost.
  static func raiseNumber(to number: Int64, in database: inout Database) throws(SpoolError) {
    try database.run(
      "UPDATE epochs SET last = max(last, ?)", [.integer(number)], to: Self.action)
  }

  /// A database in memory with what the log says, up to the length that the database knows.
  /// - Parameter table: the only table that is wanted; nil for all.
  /// - Returns: the database; nil if the log is not what was written.
  func replayed(
    _ state: State, _ schema: Schema, only table: String? = nil
  ) throws(SpoolError) -> Database? {
    var scratch = try Database(at: ":memory:", for: .scratch)
    try schema.migrate(&scratch, at: scratch.path)
    try Self.clear(&scratch)
    try scratch.script("PRAGMA foreign_keys = OFF", to: Self.action)
    let reading = try read(state.generation, upTo: state.byteCount) {
      (record) throws(SpoolError) in
      try scratch.apply(record.changes, only: table, to: Self.action)
    }
    if reading.skipped == 0, reading.end == state.byteCount { return scratch }
    return nil
  }

  /// How much of a log file could be read.
  struct Reading {
    /// Where the last record ends.
    var end: Int64
    /// Damaged bytes before that.
    var skipped: Int64 = 0
    /// The last transaction's number.
    var number: Int64?
  }

  /// Reads the records of a log file in order, and skips what is damaged between them.
  @discardableResult
  func read(
    _ generation: Int64, from start: Int64 = 0, upTo end: Int64 = .max,
    _ body: (ChangeRecord) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Reading {
    var reading = Reading(end: start)
    guard let file = try opened(path(generation)) else { return reading }
    while reading.end < end {
      if let (record, next) = try record(of: file, at: reading.end) {
        if let record { try body(record) }
        reading.number = record?.number ?? reading.number
        reading.end = next
      } else if let next = nextRecord(in: file, after: reading.end), next < end {
        reading.skipped += next - reading.end
        reading.end = next
      } else {
        break
      }
    }
    return reading
  }

  /// Where the first intact record behind damage begins; nil if there is none, or the disk cannot be
  /// read.
  private func nextRecord(in file: borrowing OpenFile, after offset: Int64) -> Int64? {
    guard let length = try? file.stamp.byteCount, length > offset,
      let rest = try? bytes(Int(length - offset), of: file, at: offset)
    else { return nil }
    return ChangeRecord.firstPlace(in: rest).map { offset + Int64($0) }
  }

  /// Nil if there is no such file, or it cannot be read.
  private func opened(_ path: String) throws(SpoolError) -> OpenFile? {
    do throws(SystemError) {
      return try files.open(path, O_RDONLY | O_NOFOLLOW)
    } catch {
      if [ENOENT, EIO, ELOOP].contains(error.code) { return nil }
      throw SpoolError("read the change log", path, error)
    }
  }

  /// The record at an offset, or at the start the line that names the format, and where it ends; nil
  /// if it is torn, damaged or unreadable.
  private func record(
    of file: borrowing OpenFile, at offset: Int64
  ) throws(SpoolError) -> (record: ChangeRecord?, end: Int64)? {
    do throws(SystemError) {
      if offset == 0 {
        let head = Array(ChangeRecord.head.utf8)
        return try bytes(head.count, of: file, at: 0) == head ? (nil, Int64(head.count)) : nil
      }
      let head = try bytes(ChangeRecord.headByteCount, of: file, at: offset)
      let start = offset + Int64(head.count)
      guard let count = ChangeRecord.byteCount(head), try file.stamp.byteCount - start >= count
      else { return nil }
      let changes = try bytes(count, of: file, at: start)
      return ChangeRecord.verified(head, changes).map { ($0, start + Int64(count)) }
    } catch {
      if error.code == EIO { return nil }
      throw SpoolError("read the change log", file.path, error)
    }
  }

  /// Up to `count` bytes: fewer at the end of the file.
  private func bytes(
    _ count: Int, of file: borrowing OpenFile, at offset: Int64
  ) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = try files.read(into: &bytes, from: file, at: offset)
    if got == count { return bytes }
    bytes.removeLast(count - got)
    return got == 0
      ? bytes : bytes + (try self.bytes(count - got, of: file, at: offset + Int64(got)))
  }
}

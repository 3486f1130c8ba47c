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
    /// Whether all rows of its beginning can be read.
    let isWhole: Bool
  }

  /// Whether a record of this log ends where the database takes its end to be.
  private func isEnd(_ state: State) throws(SpoolError) -> Bool {
    var hasNext = false
    try read(state.generation, from: state.byteCount, upTo: state.byteCount + 1) { _ in
      hasNext = true
    }
    if hasNext { return true }
    return try read(state.generation, upTo: state.byteCount) { _ in } == state.byteCount
  }

  /// Compares both; two stat calls if nothing is wrong.
  private func surplus(_ state: State) throws(SpoolError) -> Surplus {
    let length = (try? FileStamp(at: path(state.generation)))?.byteCount
    // A database without a log may be new, or rebuilt from an older one.
    let hasNext =
      state.generation == 0
      ? !isEmpty : (try? FileStamp(at: path(state.generation + 1))) != nil
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
      var last: Int64?
      var isWhole = false
      try read(generation) { record in
        last = record.number
        if record.changes.isEmpty { isWhole = true }
      }
      if let last, last >= newest?.number ?? last {
        newest = Newest(generation: generation, number: last, isWhole: isWhole)
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
        state.byteCount = try read(state.generation, from: state.byteCount) {
          (record) throws(SpoolError) in
          try database.apply(record.changes, to: Self.action)
          news.count(record.changes)
          state.number = max(state.number, record.number)
        }
        try Self.raiseNumber(to: state.number, in: &database)
      case .everything(let newest):
        // Another store's rows stay, whose place in this log is unknown, and all rows where some of
        // the log cannot be read.
        if state.generation > 0, newest.isWhole { try Self.clear(&database) }
        try read(newest.generation) { (record) throws(SpoolError) in
          try database.apply(record.changes, to: Self.action)
          news.count(record.changes)
        }
        try CheckpointTable.strikeMissing(in: layout, from: &database)
        try Self.raiseNumber(to: newest.number, in: &database)
        state.number = try WorkTable.nextNumber(in: &database, to: Self.action)
        state.generation = max(state.generation, generations.last ?? 0)
        try begin(&state, in: &database)
      }
      try RecordingTable.countChange(in: &database)
      try Self.record(state, in: &database)
      return news
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
    let end = try read(state.generation, upTo: state.byteCount) { (record) throws(SpoolError) in
      try scratch.apply(record.changes, only: table, to: Self.action)
    }
    if end == state.byteCount { return scratch }
    return nil
  }

  /// Reads the records of a log file in order, up to the first that is torn or damaged.
  /// - Returns: where the last one ends.
  @discardableResult
  func read(
    _ generation: Int64, from start: Int64 = 0, upTo end: Int64 = .max,
    _ body: (ChangeRecord) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Int64 {
    var offset = start
    let path = path(generation)
    guard let file = try opened(path) else { return offset }
    while offset < end, let (record, next) = try record(of: file, at: offset) {
      if let record { try body(record) }
      offset = next
    }
    return offset
  }

  /// Nil if there is no such file, or it cannot be read.
  private func opened(_ path: String) throws(SpoolError) -> OpenFile? {
    do throws(SystemError) {
      return try files.open(path, O_RDONLY | O_NOFOLLOW)
    } catch {
      if [ENOENT, EIO, ELOOP].contains(error.code) { return nil }
      throw SpoolError(inStore: "read the change log", path, error)
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
      throw SpoolError(inStore: "read the change log", file.path, error)
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

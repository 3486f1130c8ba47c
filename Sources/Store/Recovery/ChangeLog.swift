import Glibc
import PipelineModel
import Platform

/// A file beside the database to which every important transaction appends a line before its
/// commit. The database knows its length: if the file is longer, the database lost transactions,
/// and the lines restore them.
///
/// Recordings are logged whole, or, with a long history, by their changed rows. Checkpoints and
/// runs have records of their own and are only named. A log that has grown too long is replaced by
/// the next file, with one line per recording.
struct ChangeLog: Sendable {
  let records: RecordFolder
  var files: FileOperations { records.files }

  /// The database's record of the log.
  struct State: Hashable, Sendable {
    /// The number of the log file; 0 before the first.
    var generation: Int64
    /// The bytes known to the database.
    var byteCount: Int64
    /// The bytes at its start.
    var firstByteCount: Int64
    var number: Int64
  }

  /// A log up to this length is never replaced.
  private static let smallByteCount: Int64 = 4 << 20
  static let action = "write the ledger of"

  func path(_ generation: Int64) -> String { "\(records.layout.records)/ledger-\(generation)" }

  /// Appends a transaction's changes, right before its commit: flushed, unless a power cut may take
  /// the transaction too.
  /// - Parameters:
  ///   - checkpoints: those whose records were written.
  ///   - runs: those whose records were written.
  func append(
    checkpoints: [Checkpoint.Key] = [], runs: [RunID] = [], in database: inout Database,
    isDurable: Bool = true
  ) throws(SpoolError) {
    let owed = try database.run("SELECT kind, name FROM ledger_owed", to: Self.action)
    if owed.isEmpty && checkpoints.isEmpty && runs.isEmpty { return }
    var status = try Self.status(in: &database)
    status.number = try WorkTable.nextNumber(in: &database, to: Self.action)
    let length = (try? FileStamp(at: path(status.generation)))?.byteCount ?? 0
    let isLong = status.byteCount > max(Self.smallByteCount, 3 * status.firstByteCount)
    if status.generation == 0 || length < status.byteCount || isLong {
      if status.generation == 0 { status.generation = generations.last ?? 0 }
      try begin(&status, in: &database)
    }
    let number = status.number
    var lines = checkpoints.map { ChangeLogLine(.checkpoint, $0.digest.hex, number: number) }
    lines += runs.map { ChangeLogLine(.run, $0.name, number: number) }
    for subject in PendingLogRow.all(in: owed) {
      if let line = try subject.line(number: number, in: &database) { lines.append(line) }
    }
    try write(lines, to: &status, isDurable: isDurable)
    try database.run("DELETE FROM ledger_owed", to: Self.action)
    try Self.record(status, in: &database)
  }

  /// Whether the database is new enough to have a change log.
  static func isThere(in database: inout Database) throws(SpoolError) -> Bool {
    try !database.run("SELECT 1 FROM sqlite_schema WHERE name = 'ledger'", to: "read").isEmpty
  }

  static func status(in database: inout Database) throws(SpoolError) -> State {
    let row = try database.run(
      "SELECT generation, byte_count, first_byte_count, number FROM ledger", to: "read"
    ).first?.map { $0.integer ?? 0 }
    guard let row else {
      return State(generation: 0, byteCount: 0, firstByteCount: 0, number: 0)
    }
    return State(
      generation: row[0], byteCount: row[1], firstByteCount: row[2], number: row[3])
  }

  static func record(_ status: State, in database: inout Database) throws(SpoolError) {
    try database.run(
      "UPDATE ledger SET generation = ?, byte_count = ?, first_byte_count = ?, number = ?",
      [
        .integer(status.generation), .integer(status.byteCount),
        .integer(status.firstByteCount), .integer(status.number),
      ], to: action)
  }

  /// Replaces a damaged log.
  func renew(in database: inout Database) throws(SpoolError) {
    try database.transaction(to: Self.action) { (database) throws(SpoolError) in
      var status = try Self.status(in: &database)
      status.generation = max(status.generation, generations.last ?? 0)
      status.number = try WorkTable.nextNumber(in: &database, to: Self.action)
      try begin(&status, in: &database)
      try database.run("DELETE FROM ledger_owed", to: Self.action)
      try Self.record(status, in: &database)
    }
    sweep(in: &database)
  }

  /// Starts the next log file, inside a transaction, with all recordings and commands.
  func begin(_ status: inout State, in database: inout Database) throws(SpoolError) {
    var text = ChangeLogLine(.head, number: status.number).text
    let recordings = try database.run("SELECT key FROM notes", to: RecordingTable.reading)
    let commands = try database.run(
      "SELECT pipeline || char(10) || id FROM note_commands", to: RecordingTable.reading)
    let subjects =
      recordings.compactMap { $0[0].text.map { PendingLogRow(wholeRecording: $0) } }
      + commands.compactMap { $0[0].text.map { PendingLogRow(command: $0) } }
    for subject in subjects {
      text += try subject.line(number: status.number, in: &database)?.text ?? ""
    }
    status.generation += 1
    try records.write(text, to: path(status.generation))
    status.byteCount = Int64(text.utf8.count)
    status.firstByteCount = status.byteCount
  }

  /// The numbers of the existing files, ascending.
  var generations: [Int64] {
    FilePath.names(in: records.layout.records).compactMap { name in
      name.hasPrefix("ledger-") ? Int64(name.dropFirst("ledger-".count)) : nil
    }.sorted()
  }

  /// Bytes beyond the known length were never committed and are overwritten.
  private func write(
    _ lines: [ChangeLogLine], to status: inout State, isDurable: Bool
  ) throws(SpoolError) {
    let path = path(status.generation)
    let text = lines.map(\.text).joined()
    let length = status.byteCount
    try doing("write the ledger", path) { () throws(SystemError) in
      let file = try files.open(path, O_WRONLY | O_APPEND | O_NOFOLLOW)
      if try file.stamp.byteCount > length { try files.truncate(file, to: Int(length)) }
      try files.write(Array(text.utf8), to: file)
      if isDurable { try files.flush(file) }
    }
    status.byteCount += Int64(text.utf8.count)
  }
}

/// A recording or a command whose changes are not in the log.
struct PendingLogRow {
  /// Recordings with at most this many revisions are logged whole; others by their changed rows.
  private static let shortHistory: Int64 = 20

  private let isCommand: Bool
  private let name: String
  /// Whether all rows of the recording are logged.
  private var isWhole = false
  /// Changed rows of its history, by number.
  private var events: [Int64] = []
  /// Changed rows of its files, by number.
  private var files: [Int64] = []

  private init(recording key: String) {
    isCommand = false
    name = key
  }

  init(wholeRecording key: String) {
    self.init(recording: key)
    isWhole = true
  }

  /// A command, by its pipeline and its id, separated by a line feed.
  init(command name: String) {
    isCommand = true
    self.name = name
  }

  /// Groups the rows of `ledger_owed` by recording and command.
  static func all(in owed: [SQLRow]) -> [PendingLogRow] {
    var recordings: [String: PendingLogRow] = [:]
    var commands: [PendingLogRow] = []
    for row in owed {
      guard let name = row[1].text else { continue }
      switch row[0].text {
      case "note": recordings[name, default: PendingLogRow(recording: name)].isWhole = false
      case "event", "file":
        let parts = name.split(separator: "\n")
        guard parts.count == 2, let number = Int64(parts[1]) else { continue }
        let key = String(parts[0])
        var recording = recordings[key] ?? PendingLogRow(recording: key)
        if row[0].text == "event" {
          recording.events.append(number)
        } else {
          recording.files.append(number)
        }
        recordings[key] = recording
      default: commands.append(PendingLogRow(command: name))
      }
    }
    return recordings.sorted { $0.key < $1.key }.map(\.value) + commands
  }

  /// Its line; nil for an invalid name.
  func line(number: Int64, in database: inout Database) throws(SpoolError) -> ChangeLogLine? {
    if isCommand {
      let parts = name.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { return nil }
      let row = try RecordingRows.command(
        pipeline: "\(parts[0])", id: "\(parts[1])", in: &database)
      return ChangeLogLine(.command, "\(SHA256.digest(of: name).short) \(row)", number: number)
    }
    let isPart = try isWhole ? false : isLong(in: &database)
    if isPart {
      let rows = try RecordingRows.part(of: name, events: events, files: files, in: &database)
      return ChangeLogLine(.notePart, "\(name) \(rows)", number: number)
    }
    let rows = try RecordingRows.recording(name, in: &database)
    return ChangeLogLine(.recording, "\(name) \(rows)", number: number)
  }

  /// Whether the history is so long that only changed rows are logged. A forgotten recording has
  /// none.
  private func isLong(in database: inout Database) throws(SpoolError) -> Bool {
    let revision = try database.run(
      "SELECT revision FROM notes WHERE key = ?", [.text(name)], to: RecordingTable.reading
    ).first?[0].integer
    return (revision ?? 0) > Self.shortHistory
  }
}

/// Finds and restores lost transactions.
extension ChangeLog {
  /// What the log has beyond the database.
  enum Surplus {
    case none
    /// Lines after those that the database knows.
    case lines([ChangeLogLine], upTo: Int64)
    /// The database is older than the present log file, or that is missing: all files, in order,
    /// and all records have to be read.
    case everything([ChangeLogLine])
  }

  /// Compares both; two stat calls if nothing is wrong.
  func surplus(in database: inout Database) throws(SpoolError) -> Surplus {
    let status = try Self.status(in: &database)
    let length = (try? FileStamp(at: path(status.generation)))?.byteCount
    // A database without a log may be new, or rebuilt from an older one.
    let hasNext =
      status.generation == 0
      ? !generations.isEmpty : (try? FileStamp(at: path(status.generation + 1))) != nil
    if length ?? 0 == status.byteCount, !hasNext { return .none }
    if !hasNext, let length, length > status.byteCount {
      let text = ChangeLogText(try read(status.generation)[Int(status.byteCount)...])
      // A torn last line is cut off by the next write.
      if text.lines.isEmpty { return .none }
      return .lines(text.lines, upTo: status.byteCount + text.byteCount)
    }
    var lines: [ChangeLogLine] = []
    for generation in generations { lines += ChangeLogText(try read(generation)[...]).lines }
    lines.sort { $0.number < $1.number }
    // A log file of an uncommitted transaction is older than what followed.
    if let last = lines.last, last.number <= status.number, length == status.byteCount {
      return .none
    }
    return .everything(lines)
  }

  /// Restores what the database lacks, in one transaction, and returns the counts.
  func catchUp(
    _ database: inout Database, with rebuild: Rebuild
  ) throws(SpoolError) -> CatchUp {
    if case .none = try surplus(in: &database) { return CatchUp() }
    return try database.transaction(to: "read the records into") {
      (database) throws(SpoolError) in
      // Again under the lock: the surplus may have been a transaction in progress.
      let surplus = try surplus(in: &database)
      var status = try Self.status(in: &database)
      var news = CatchUp()
      switch surplus {
      case .none: return news
      case .lines(let lines, let end):
        for line in Self.last(lines) { try rebuild.adopt(line, into: &database, &news) }
        status.byteCount = end
        status.number = max(status.number, lines.last?.number ?? 0)
        try Self.raiseNumber(to: status.number, in: &database)
      case .everything(let lines):
        try rebuild.adoptAll(into: &database, &news)
        let isOfNotes = { (line: ChangeLogLine) in
          [.recording, .notePart, .command].contains(line.kind)
        }
        for line in Self.last(lines.filter(isOfNotes)) where line.number > status.number {
          try rebuild.adopt(line, into: &database, &news)
        }
        try Self.raiseNumber(to: lines.last?.number ?? 0, in: &database)
        status.number = try WorkTable.nextNumber(in: &database, to: Self.action)
        status.generation = max(status.generation, generations.last ?? 0)
        try begin(&status, in: &database)
      }
      try database.run("DELETE FROM ledger_owed", to: Self.action)
      try Self.record(status, in: &database)
      return news
    }
  }

  /// Later numbers must exceed all that were found, whatever the clock said when the counter began
  /// and however much of it was lost.
  private static func raiseNumber(
    to number: Int64, in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      "UPDATE epochs SET last = max(last, ?)", [.integer(number)], to: Self.action)
  }

  /// The last line on each subject, in order, and all partial lines on a recording after its last
  /// whole one.
  private static func last(_ lines: [ChangeLogLine]) -> [ChangeLogLine] {
    var seen: Set<String> = []
    return lines.reversed().filter { line in
      let isPart = line.kind == .notePart
      let subject = "\(isPart ? .recording : line.kind) \(line.subject)"
      return isPart ? !seen.contains(subject) : seen.insert(subject).inserted
    }.reversed()
  }

  /// Removes replaced log files. Never fails.
  func sweep(in database: inout Database) {
    guard let status = try? Self.status(in: &database) else { return }
    for generation in generations where generation < status.generation {
      try? files.unlink(path(generation))
    }
  }

  /// The bytes of a log file; none if it is gone.
  func read(_ generation: Int64) throws(SpoolError) -> [UInt8] {
    let path = path(generation)
    do throws(SystemError) {
      return try files.bytes(of: path)
    } catch {
      if [ENOENT, EIO, ELOOP].contains(error.code) { return [] }
      throw SpoolError(inStore: "read the ledger", path, error)
    }
  }
}

import Glibc
import PipelineModel
import Platform

/// What Spool up to 0.1 kept beside the database in place of the change log: a file per checkpoint,
/// run and pin, and a log of recordings. It is taken in once, and removed.
///
/// ```
/// records/ab/abcdef….json   a checkpoint, named by its key
/// records/runs/RUN.json     a run, at its start or end
/// records/pins/RUN.json     a pinned run
/// records/ledger-N          recordings and commands, as rows, line by line
/// ```
struct OldRecords: Sendable {
  let layout: StoreLayout
  let files: FileOperations

  /// Bytes of the longest record that is read.
  private static let longestRecord: Int64 = 64 << 20
  private static let action = "take the old records into"

  private var root: String { layout.root + "/records" }

  /// Whether there are any; other programs' files in their folders do not count.
  var isThere: Bool {
    !(checkpointPaths + paths(in: "runs") + paths(in: "pins") + logPaths).isEmpty
  }

  /// Takes in what neither the database nor the change log has. The database has read the log. If it
  /// has none, begins it, with all rows.
  func takeIn(_ database: inout Database, _ log: ChangeLog) throws(SpoolError) -> CatchUp {
    let isFirst = try ChangeLog.state(in: &database).generation == 0
    return try database.transaction(to: Self.action, isRecorded: !isFirst) {
      (database) throws(SpoolError) in
      var state = try ChangeLog.state(in: &database)
      // Another process has done it meanwhile.
      if isFirst, state.generation > 0 { return CatchUp() }
      var news = CatchUp()
      let known = try CatchUp(of: &database)
      try CheckpointTable.strikeMissing(in: layout, from: &database)
      for path in checkpointPaths where try adoptCheckpoint(at: path, into: &database) {
        news.count("checkpoints", path)
      }
      for path in paths(in: "runs") where try adoptRun(at: path, into: &database) {
        news.count("runs", path)
      }
      for path in paths(in: "pins") {
        if let pin: Pin = try read(path) { try PinTable.write(pin, to: &database) }
      }
      let lines = try self.lines()
      for line in OldLine.last(lines) {
        let key = "\(line.subject)"
        // The log's rows are newer, and so are the database's up to the number that it knows.
        if isFirst ? line.number > state.number : !known.has("notes", key),
          try line.adopt(into: &database, isReplacing: isFirst), !known.has("notes", key)
        {
          news.count("notes", key)
        }
      }
      try ChangeLog.raiseNumber(to: lines.last?.number ?? 0, in: &database)
      if !isFirst { return news }
      state.number = try WorkTable.nextNumber(in: &database, to: Self.action)
      try log.begin(&state, in: &database)
      try ChangeLog.record(state, in: &database)
      return news
    }
  }

  /// Removes all files and folders, but sets aside records that cannot be read, for a person. Never
  /// fails: what stays is removed by the next opening.
  func remove() {
    guard FilePath.exists(root) else { return }
    for name in FilePath.names(in: root) {
      let folder = "\(root)/\(name)"
      for path in paths(in: name) where (try? bytes(path, limit: .max)).flatMap(Self.text) == nil {
        try? files.makeFolders(layout.damaged)
        let aside = "\(layout.damaged)/\(FilePath.names(in: layout.damaged).count)-record.json"
        try? files.rename(path, toNew: aside)
      }
      for file in FilePath.names(in: folder) { try? files.unlink("\(folder)/\(file)") }
      if (try? files.removeFolder(folder)) == nil { try? files.unlink(folder) }
    }
    try? files.removeFolder(root)
  }

  /// All lines of the old log, in the order of their transactions.
  private func lines() throws(SpoolError) -> [OldLine] {
    var lines: [OldLine] = []
    for path in logPaths { lines += OldLine.lines(in: try bytes(path, limit: .max) ?? []) }
    return lines.sorted { $0.number < $1.number }
  }

  /// The names of recorded runs.
  var runNames: [String] {
    paths(in: "runs").compactMap { $0.pathNames.last.map { String($0.dropLast(5)) } }
  }

  private var logPaths: [String] {
    FilePath.names(in: root).filter { $0.hasPrefix("ledger-") }.map { "\(root)/\($0)" }
  }

  var checkpointPaths: [String] {
    FilePath.names(in: root).filter { $0.utf8.count == 2 }.flatMap { paths(in: $0) }
  }

  private func paths(in folder: String) -> [String] {
    FilePath.names(in: "\(root)/\(folder)").filter { $0.hasSuffix(".json") }
      .map { "\(root)/\(folder)/\($0)" }
  }

  private func adoptCheckpoint(
    at path: String, into database: inout Database
  ) throws(SpoolError) -> Bool {
    guard let stamp = try? FileStamp(at: path), let record: Checkpoint = try read(path),
      record.components.key == record.key, path.hasSuffix("/\(record.key.digest.hex).json"),
      let checkpoint = record.backed(where: layout.holds)
    else { return false }
    let isNews = try isNews(checkpoint, to: &database)
    if isNews { try CheckpointTable.write(checkpoint, to: &database) }
    try database.run(
      "UPDATE checkpoints SET recorded_at = ? WHERE key = ?",
      [.integer(stamp.modified), .text(checkpoint.key.digest.hex)], to: Self.action)
    return isNews
  }

  /// Whether a record has more than the database. A contradicting record wins: it has a checksum.
  private func isNews(
    _ record: Checkpoint, to database: inout Database
  ) throws(SpoolError) -> Bool {
    if let rows = try CheckpointTable.checkpoint(for: record.key, in: &database) {
      switch RecordRelation(record: record, rows: rows) {
      case .same, .behind: return false
      case .ahead: return true
      case .contradiction: break
      }
    }
    // A backup may hold an older version: it is removed, so that the two are not mixed.
    try CheckpointTable.remove(record.key.digest.hex, from: &database)
    return true
  }

  /// A run that was running when its record was written counts as interrupted; if its process is
  /// alive, its next write corrects that.
  private func adoptRun(at path: String, into database: inout Database) throws(SpoolError) -> Bool {
    guard let recorded: RecordedRun = try read(path) else { return false }
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

  /// The value in a record; nil if it is missing or damaged.
  private func read<Value: Decodable>(_ path: String) throws(SpoolError) -> Value? {
    // A record cut at the limit fails its checksum.
    try bytes(path, limit: Self.longestRecord).flatMap(Self.text)
      .flatMap { try? Value(jsonText: $0) }
  }

  /// Nil if there is no such file, or it cannot be read.
  private func bytes(_ path: String, limit: Int64) throws(SpoolError) -> [UInt8]? {
    do throws(SystemError) {
      return try files.bytes(of: path, limit: limit)
    } catch {
      if [ENOENT, EIO, ELOOP].contains(error.code) { return nil }
      throw SpoolError("read the record", path, error)
    }
  }

  /// The record in `{"digest":"…","record":{…}}`, where the digest is the SHA-256 of its text; nil for
  /// anything else.
  private static func text(_ bytes: [UInt8]) -> String? {
    let (head, middle, tail) = (#"{"digest":""#, #"","record":"#, "}\n")
    guard let text = String(validating: bytes, as: UTF8.self), text.hasPrefix(head),
      text.hasSuffix(tail)
    else { return nil }
    let body = text.dropFirst(head.count).dropLast(tail.count)
    let (hex, rest) = (body.prefix(64), body.dropFirst(64))
    guard rest.hasPrefix(middle) else { return nil }
    let record = String(rest.dropFirst(middle.count))
    return SHA256.digest(of: record).hex == hex ? record : nil
  }
}

/// How a checkpoint's record compares with its rows.
enum RecordRelation: Hashable, Sendable {
  case same
  /// The record has more: its process died before the commit, or the database is older.
  case ahead
  /// The rows have more: the record is older.
  case behind
  /// At most one of them is right.
  case contradiction

  /// Kept sound named by only one of them is no contradiction: it may have been freed.
  init(record: Checkpoint, rows: Checkpoint) {
    guard record.components == rows.components,
      Self.agree(record.memo, rows.memo), Self.agree(record.hint, rows.hint)
    else {
      self = .contradiction
      return
    }
    var isAhead =
      (record.memo != nil && rows.memo == nil) || (record.hint != nil && rows.hint == nil)
    var isBehind =
      (record.memo == nil && rows.memo != nil) || (record.hint == nil && rows.hint != nil)
    for port in Set(record.outputs.keys).union(rows.outputs.keys) {
      switch (record.outputs[port], rows.outputs[port]) {
      case (let mine?, let theirs?):
        guard mine.kind == theirs.kind, mine.identity == theirs.identity,
          Self.agree(mine.artifact, theirs.artifact)
        else {
          self = .contradiction
          return
        }
        if mine.artifact != nil, theirs.artifact == nil { isAhead = true }
        if mine.artifact == nil, theirs.artifact != nil { isBehind = true }
      case (_?, nil): isAhead = true
      case (nil, _): isBehind = true
      }
    }
    self = isBehind ? .behind : isAhead ? .ahead : .same
  }

  private static func agree<Value: Equatable>(_ a: Value?, _ b: Value?) -> Bool {
    a == nil || b == nil || a == b
  }
}

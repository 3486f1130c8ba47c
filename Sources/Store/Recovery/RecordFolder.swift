import FoundationEssentials
import Glibc
import PipelineModel
import Platform

/// A copy of the database's content as small files, one per checkpoint, run and pin, from which a
/// lost database is rebuilt.
///
/// ```
/// records/ab/abcdef….json   a checkpoint, named by its key
/// records/runs/RUN.json     a run, at its start or end
/// records/pins/RUN.json     a pinned run
/// records/ledger-N          the change log: see `ChangeLog`
/// ```
struct RecordFolder: Sendable {
  let layout: StoreLayout
  let drafts: DraftFolder
  let files: FileOperations

  /// Bytes of the longest record that is read.
  private static let longestRecord: Int64 = 64 << 20

  func path(of key: Checkpoint.Key) -> String {
    "\(layout.records)/\(key.digest.hex.prefix(2))/\(key.digest.hex).json"
  }

  func path(of run: RunID) -> String { "\(layout.records)/runs/\(Self.fileName(run)).json" }

  func path(ofPin run: RunID) -> String { "\(layout.records)/pins/\(Self.fileName(run)).json" }

  /// Replaces a checkpoint's record, durably.
  func write(_ checkpoint: Checkpoint) throws(SpoolError) { try write([checkpoint]) }

  /// Replaces the records of checkpoints, durably.
  func write(_ checkpoints: [Checkpoint]) throws(SpoolError) {
    var records: [(text: String, target: String)] = []
    for checkpoint in checkpoints {
      records.append((try SealedRecord.encode(checkpoint), path(of: checkpoint.key)))
    }
    try write(records)
  }

  /// Replaces a run's record: durably, unless a power cut may take it.
  func write(_ recorded: RecordedRun, isDurable: Bool = true) throws(SpoolError) {
    try write(
      try SealedRecord.encode(recorded), to: path(of: recorded.run.id), isDurable: isDurable)
  }

  func write(_ pin: Pin) throws(SpoolError) {
    try write(try SealedRecord.encode(pin), to: path(ofPin: pin.run))
  }

  /// Removes a record, if it exists.
  func remove(_ path: String) throws(SpoolError) {
    try doing("remove the record", path) { () throws(SystemError) in
      try files.unlinkIfThere(path)
    }
  }

  var checkpointPaths: [String] {
    FilePath.names(in: layout.records).filter { $0.utf8.count == 2 }.flatMap {
      Self.recordPaths(in: "\(layout.records)/\($0)")
    }
  }

  var runPaths: [String] { Self.recordPaths(in: layout.records + "/runs") }

  var pinPaths: [String] { Self.recordPaths(in: layout.records + "/pins") }

  /// Whether there is nothing to rebuild a database from.
  var isEmpty: Bool {
    runPaths.isEmpty && checkpointPaths.isEmpty && ChangeLog(records: self).generations.isEmpty
  }

  /// The checkpoint in a record; nil if it is missing, damaged or misnamed. Throws errors that say
  /// nothing of the record (too many open files, say).
  func checkpoint(at path: String) throws(SpoolError) -> Checkpoint? {
    guard let checkpoint: Checkpoint = try read(path), checkpoint.components.key == checkpoint.key,
      self.path(of: checkpoint.key) == path
    else { return nil }
    return checkpoint
  }

  func run(at path: String) throws(SpoolError) -> RunRecord? { try recordedRun(at: path)?.run }

  func recordedRun(at path: String) throws(SpoolError) -> RecordedRun? {
    guard let recorded: RecordedRun = try read(path), self.path(of: recorded.run.id) == path
    else { return nil }
    return recorded
  }

  func pin(at path: String) throws(SpoolError) -> Pin? {
    guard let pin: Pin = try read(path), self.path(ofPin: pin.run) == path else { return nil }
    return pin
  }

  /// Replaces a small file: durably, unless a power cut may take it.
  func write(_ text: String, to target: String, isDurable: Bool = true) throws(SpoolError) {
    try write([(text, target)], isDurable: isDurable)
  }

  /// Writes all records, then flushes all, then renames all, then flushes the folders: so one
  /// commit of the file system's journal serves them all.
  private func write(
    _ records: [(text: String, target: String)], isDurable: Bool = true
  ) throws(SpoolError) {
    var unnamed: [RecordDraft] = []
    // Non-empty only after an error.
    defer { for draft in unnamed { try? files.unlink(draft.path) } }
    for (text, target) in records {
      try files.makeFolders(FilePath.folder(of: target))
      unnamed.append(RecordDraft(try drafts.makeFile(), for: target))
      try unnamed.last?.write(text, with: files)
    }
    // Even an unflushed record must never appear empty.
    for draft in unnamed { try draft.flush(with: files) }
    while let draft = unnamed.first {
      try draft.takeName(with: files)
      unnamed.removeFirst()
    }
    guard isDurable else { return }
    var flushed: Set<String> = []
    for (_, target) in records where flushed.insert(FilePath.folder(of: target)).inserted {
      try doing("write the record", target) { () throws(SystemError) in
        try files.flushFolder(FilePath.folder(of: target))
      }
    }
  }

  private func read<Value: Decodable>(_ path: String) throws(SpoolError) -> Value? {
    do throws(SystemError) {
      // A record cut at the limit fails its checksum.
      let bytes = try files.bytes(of: path, limit: Self.longestRecord)
      return String(validating: bytes, as: UTF8.self).flatMap { SealedRecord.decode($0) }
    } catch {
      // An unreadable record counts as damaged.
      if [ENOENT, EIO, ELOOP].contains(error.code) { return nil }
      throw SpoolError(inStore: "read the record", path, error)
    }
  }

  private static func recordPaths(in folder: String) -> [String] {
    FilePath.names(in: folder).filter { $0.hasSuffix(".json") }.map { "\(folder)/\($0)" }
  }

  /// A run's name as a file name; a digest replaces unsafe or long ones.
  private static func fileName(_ run: RunID) -> String {
    let isPlain = run.name.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }
    return isPlain && (1...100).contains(run.name.utf8.count)
      ? run.name : SHA256.digest(of: run.name).hex
  }
}

/// A record as JSON with a checksum.
///
/// `{"digest":"…","record":{…}}`: the digest is the SHA-256 of the record's text, byte for byte,
/// and reveals flipped bits.
enum SealedRecord {
  private static let head = #"{"digest":""#
  private static let middle = #"","record":"#
  private static let tail = "}\n"

  static func encode(_ value: some Encodable) throws(SpoolError) -> String {
    let record = try StoredJSON.encode(value, to: "write a record in")
    return head + SHA256.digest(of: record).hex + middle + record + tail
  }

  /// Reads what `encode` wrote; nil for anything else.
  static func decode<Value: Decodable>(_ text: String) -> Value? {
    guard text.hasPrefix(head), text.hasSuffix(tail) else { return nil }
    let body = text.dropFirst(head.count).dropLast(tail.count)
    let (hex, rest) = (body.prefix(64), body.dropFirst(64))
    guard rest.hasPrefix(middle) else { return nil }
    let record = String(rest.dropFirst(middle.count))
    guard SHA256.digest(of: record).hex == hex else { return nil }
    return try? StoredJSON.decode(record)
  }
}

/// A record under its temporary name.
private final class RecordDraft {
  /// The final path.
  let target: String
  private let file: OpenFile

  init(_ file: consuming OpenFile, for target: String) {
    self.file = file
    self.target = target
  }

  /// The temporary path.
  var path: String { file.path }

  /// Writes the text and starts writeback.
  func write(_ text: String, with files: FileOperations) throws(SpoolError) {
    try doing("write the record", target) { () throws(SystemError) in
      try files.write(Array(text.utf8), to: file)
    }
    files.startWriteback(of: file, from: 0, byteCount: text.utf8.count)
  }

  func flush(with files: FileOperations) throws(SpoolError) {
    try doing("write the record", target) { () throws(SystemError) in try files.flush(file) }
  }

  /// Renames it to its final path.
  func takeName(with files: FileOperations) throws(SpoolError) {
    try doing("write the record", target) { () throws(SystemError) in
      try files.rename(path, to: target)
    }
  }
}

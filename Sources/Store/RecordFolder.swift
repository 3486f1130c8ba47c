import Glibc
internal import Hashing
internal import PipelineModel

/// What the database knows, once more beside it: a small file for each checkpoint, each
/// run and each pin, from which a lost database is made anew.
///
/// ```
/// records/ab/abcdef….json   a checkpoint, named by its key
/// records/runs/RUN.json     a run, as it began or as it ended
/// records/pins/RUN.json     a run that is kept
/// records/ledger-N          what was written when, and all notes: see `Ledger`
/// ```
struct RecordFolder: Sendable {
  let layout: StoreLayout
  let drafts: DraftFolder
  let files: FileOperations

  /// The longest record that is read.
  private static let longestRecord: Int64 = 64 << 20

  func path(of key: Checkpoint.Key) -> String {
    "\(layout.records)/\(key.digest.hex.prefix(2))/\(key.digest.hex).json"
  }

  func path(of run: RunID) -> String { "\(layout.records)/runs/\(Self.fileName(run)).json" }

  func path(ofPin run: RunID) -> String { "\(layout.records)/pins/\(Self.fileName(run)).json" }

  /// Writes a checkpoint's record, durably, in place of an older one.
  func write(_ checkpoint: Checkpoint) throws(StoreError) { try write([checkpoint]) }

  /// Writes the records of checkpoints, durably, in place of older ones.
  func write(_ checkpoints: [Checkpoint]) throws(StoreError) {
    var records: [(text: String, target: String)] = []
    for checkpoint in checkpoints {
      records.append((try SealedRecord.encode(checkpoint), path(of: checkpoint.key)))
    }
    try write(records)
  }

  /// Writes a run's record in place of an older one: durably, unless a power cut may take it.
  func write(_ recorded: RecordedRun, isDurable: Bool = true) throws(StoreError) {
    try write(
      try SealedRecord.encode(recorded), to: path(of: recorded.run.id), isDurable: isDurable)
  }

  /// Writes a pin's record, durably.
  func write(_ pin: Pin) throws(StoreError) {
    try write(try SealedRecord.encode(pin), to: path(ofPin: pin.run))
  }

  /// Removes a record; nothing happens if there is none.
  func remove(_ path: String) throws(StoreError) {
    do {
      try files.unlink(path)
    } catch {
      if error.code != ENOENT { throw StoreError("remove the record", path: path, error) }
    }
  }

  /// Where the records of checkpoints lie: O(number of checkpoints).
  var checkpointPaths: [String] {
    FolderListing.names(in: layout.records).filter { $0.utf8.count == 2 }.flatMap {
      Self.recordPaths(in: "\(layout.records)/\($0)")
    }
  }

  /// Where the records of runs lie.
  var runPaths: [String] { Self.recordPaths(in: layout.records + "/runs") }

  /// Where the records of pins lie.
  var pinPaths: [String] { Self.recordPaths(in: layout.records + "/pins") }

  /// Whether there is nothing to make a database from.
  var isEmpty: Bool {
    runPaths.isEmpty && checkpointPaths.isEmpty && Ledger(records: self).generations.isEmpty
  }

  /// The checkpoint in a record; nil if there is none, if it is damaged, or not the one that its
  /// name says. Throws what says nothing of the record (no more files may be open, say).
  func checkpoint(at path: String) throws(StoreError) -> Checkpoint? {
    guard let checkpoint: Checkpoint = try read(path), checkpoint.components.key == checkpoint.key,
      self.path(of: checkpoint.key) == path
    else { return nil }
    return checkpoint
  }

  /// The run in a record, likewise.
  func run(at path: String) throws(StoreError) -> RunRecord? { try recordedRun(at: path)?.run }

  /// The same, with its place among the runs.
  func recordedRun(at path: String) throws(StoreError) -> RecordedRun? {
    guard let recorded: RecordedRun = try read(path), self.path(of: recorded.run.id) == path
    else { return nil }
    return recorded
  }

  /// The pin in a record, likewise.
  func pin(at path: String) throws(StoreError) -> Pin? {
    guard let pin: Pin = try read(path), self.path(ofPin: pin.run) == path else { return nil }
    return pin
  }

  /// Writes a small file in place of an older one: durably, unless a power cut may take it.
  func write(_ text: String, to target: String, isDurable: Bool = true) throws(StoreError) {
    try write([(text, target)], isDurable: isDurable)
  }

  /// Writes all records before it flushes the first, and names all before it flushes a folder: one
  /// commit of the file system's own journal then serves them all.
  private func write(
    _ records: [(text: String, target: String)], isDurable: Bool = true
  ) throws(StoreError) {
    var unnamed: [RecordDraft] = []
    // Nothing is left here but where a step failed.
    defer { for draft in unnamed { try? files.unlink(draft.path) } }
    for (text, target) in records {
      try FolderMaker(files: files).make(FilePath.folder(of: target))
      unnamed.append(RecordDraft(try drafts.makeFile(), for: target))
      try unnamed.last?.write(text, with: files)
    }
    // Even one that may be taken is never found empty.
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

  private func read<Value: Decodable>(_ path: String) throws(StoreError) -> Value? {
    do throws(SystemError) {
      let file = try files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      let stamp = try file.stamp
      guard stamp.isRegularFile, (1...Self.longestRecord).contains(stamp.byteCount) else {
        return nil
      }
      var bytes = [UInt8](repeating: 0, count: Int(stamp.byteCount))
      guard try files.read(into: &bytes, from: file, at: 0) == bytes.count else { return nil }
      return String(validating: bytes, as: UTF8.self).flatMap { SealedRecord.decode($0) }
    } catch {
      // A record that the disk cannot read is as good as damaged.
      if [ENOENT, EIO, ELOOP].contains(error.code) { return nil }
      throw StoreError("read the record", path: path, error)
    }
  }

  private static func recordPaths(in folder: String) -> [String] {
    FolderListing.names(in: folder).filter { $0.hasSuffix(".json") }.map { "\(folder)/\($0)" }
  }

  /// A run's name as a file's: whatever could lead elsewhere, or is too long, is replaced by its
  /// digest.
  private static func fileName(_ run: RunID) -> String {
    let isPlain = run.name.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }
    return isPlain && (1...100).contains(run.name.utf8.count)
      ? run.name : SHA256.digest(of: run.name).hex
  }
}

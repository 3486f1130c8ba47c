import Glibc
internal import Platform
internal import Synchronization

/// A chunk store with a file per chunk, `NAME.NUMBER.packets` in a possibly shared folder, which a
/// later process can resume from.
///
/// A file gets its name once its bytes are durable, and carries a digest. Only the leading
/// consecutive chunks count as progress, because sound is read in one piece.
final class ChunkFiles: ChunkStore, EncodingSurvival {
  private struct Saved {
    /// The number of leading consecutive chunks. The stream's last chunk never counts, since only
    /// the end of the sound shows that it is the last.
    var leading = 0
    /// Further chunks that exist.
    var later: Set<Int> = []
    /// Chunks written by this or an earlier process and not yet flushed.
    var unflushed: Set<Int> = []

    mutating func add(_ label: ChunkLabel) {
      unflushed.insert(label.chunk)
      guard !label.isLast, label.chunk >= leading else { return }
      later.insert(label.chunk)
      while later.remove(leading) != nil { leading += 1 }
    }
  }

  private let work: ResumableWork
  private let plan: ChunkPlan
  private let saved: Mutex<Saved>
  // Held while a file is written.
  private let isClosed = Mutex(false)
  private let flushed = FlushOutcome()

  /// The number of leading chunks when the store was opened.
  let leadingAtStart: Int

  /// Finds the chunks of an earlier process; deletes them on a new start. O(bytes of the valid
  /// files), which are read and verified.
  init(_ work: ResumableWork, plan: ChunkPlan) {
    self.work = work
    self.plan = plan
    var found = Saved()
    if work.isResumed {
      while Self.read(ChunkLabel(found.leading, of: plan), of: work) != nil {
        found.add(ChunkLabel(found.leading, of: plan))
      }
    } else {
      Self.removeAll(named: work.name, in: work.folder)
    }
    leadingAtStart = found.leading
    saved = Mutex(found)
  }

  var extent: EncodingExtent {
    EncodingExtent(frames: plan.input(of: saved.withLock { $0.leading }).lowerBound)
  }

  func save(_ run: PacketRun, as label: ChunkLabel) throws(SpoolError) {
    let isSaved = try isClosed.withLock { (isClosed) throws(SpoolError) in
      guard !isClosed else { return false }
      try write(run, as: label)
      return true
    }
    if isSaved { saved.withLock { $0.add(label) } }
  }

  func load(_ label: ChunkLabel) -> PacketRun? {
    let run = Self.read(label, of: work)
    if run != nil { saved.withLock { $0.add(label) } }
    return run
  }

  func close() { isClosed.withLock { $0 = true } }

  func flush() throws(SpoolError) {
    try flushed.unlessFailed { () throws(SpoolError) in
      let chunks = saved.withLock { saved in
        defer { saved.unflushed = [] }
        return saved.unflushed
      }
      guard !chunks.isEmpty else { return }
      for chunk in chunks.sorted() {
        try OpenFile(path: Self.path(chunk, of: work), O_RDONLY).flush()
      }
      try writing(work.folder) { () throws(SystemError) in
        try FileOperations.uncounted.flushFolder(work.folder)
      }
    }
  }

  /// The packets of a chunk; nil if the file is missing, incomplete, of another owner or of another
  /// stretch of sound.
  private static func read(_ label: ChunkLabel, of work: ResumableWork) -> PacketRun? {
    guard let file = try? OpenFile(path: path(label.chunk, of: work), O_RDONLY),
      let bytes = try? file.read(file.byteCount, at: 0),
      let record = ChunkRecord(bytes, owner: work.state.owner), record.label == label
    else { return nil }
    return record.run
  }

  /// Writes and replaces a chunk's file. It gets its name once its bytes are durable; the name is
  /// durable after `flush`.
  private func write(_ run: PacketRun, as label: ChunkLabel) throws(SpoolError) {
    let target = Self.path(label.chunk, of: work)
    let bytes = ChunkRecord(run, as: label).bytes(owner: work.state.owner)
    try writing(target) { () throws(SystemError) in
      try FileOperations.uncounted.replace(
        target, with: bytes, draft: target + Self.newSuffix, mode: 0o600)
    }
  }

  /// Deletes all files of a work, finished or not. A file that cannot be deleted is harmless, as its
  /// owner does not recur.
  static func removeAll(named name: String, in folder: String) {
    for file in FilePath.names(in: folder) {
      let finished = file.hasSuffix(newSuffix) ? file.dropLast(newSuffix.count) : file[...]
      guard finished.hasPrefix(name + "."), finished.hasSuffix(suffix) else { continue }
      let number = finished.dropFirst(name.count + 1).dropLast(suffix.count)
      guard !number.isEmpty, number.allSatisfy(\.isWholeNumber) else { continue }
      try? FileOperations.uncounted.unlink(folder + "/" + file)
    }
  }

  /// The name suffix of finished chunks, and a further one during writing.
  static let suffix = ".packets"
  private static let newSuffix = ".new"

  private static func path(_ chunk: Int, of work: ResumableWork) -> String {
    "\(work.folder)/\(work.name).\(chunk)\(suffix)"
  }
}

/// Stores packets of finished chunks until they are muxed. Workers save; the muxing thread loads.
protocol ChunkStore: Sendable {
  func save(_ run: PacketRun, as label: ChunkLabel) throws(SpoolError)
  /// The packets saved as `label`; nil if missing or damaged.
  func load(_ label: ChunkLabel) -> PacketRun?
  /// After it returns, nothing is saved and no file touched.
  func close()
}

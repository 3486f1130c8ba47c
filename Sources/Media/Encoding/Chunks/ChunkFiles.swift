internal import FoundationEssentials
import Glibc
internal import Platform
internal import Synchronization

/// A chunk store with a file per chunk, which a later process can resume from.
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

  private let folder: ChunkFolder
  private let plan: ChunkPlan
  private let saved: Mutex<Saved>
  // Held while a file is written.
  private let isClosed = Mutex(false)
  // Held during a flush, so that concurrent callers wait for its completion.
  private let flushing = Mutex(FlushOutcome())

  /// The number of leading chunks when the store was opened.
  let leadingAtStart: Int

  /// Finds the chunks of an earlier process; deletes them on a new start. O(bytes of the valid
  /// files), which are read and verified.
  init(_ work: ResumableWork, plan: ChunkPlan) {
    folder = ChunkFolder(path: work.folder, name: work.name, owner: work.state.owner)
    self.plan = plan
    var found = Saved()
    if work.isResumed {
      while folder.read(ChunkLabel(found.leading, of: plan)) != nil {
        found.add(ChunkLabel(found.leading, of: plan))
      }
    } else {
      folder.removeAll()
    }
    leadingAtStart = found.leading
    saved = Mutex(found)
  }

  var extent: EncodingExtent {
    EncodingExtent(frames: plan.input(of: saved.withLock { $0.leading }).lowerBound)
  }

  func save(_ run: PacketRun, as label: ChunkLabel) throws(MediaError) {
    let outcome = isClosed.withLock { isClosed -> Result<Bool, MediaError> in
      guard !isClosed else { return .success(false) }
      do throws(MediaError) {
        try folder.write(run, as: label)
        return .success(true)
      } catch {
        return .failure(error)
      }
    }
    if try outcome.get() { saved.withLock { $0.add(label) } }
  }

  func load(_ label: ChunkLabel) -> PacketRun? {
    let run = folder.read(label)
    if run != nil { saved.withLock { $0.add(label) } }
    return run
  }

  func close() { isClosed.withLock { $0 = true } }

  func flush() throws(MediaError) {
    let outcome = flushing.withLock { flushed -> Result<Void, MediaError> in
      let chunks = saved.withLock { saved in
        defer { saved.unflushed = [] }
        return saved.unflushed
      }
      do throws(MediaError) {
        try flushed.unlessFailed { () throws(MediaError) in try folder.flush(chunks) }
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    try outcome.get()
  }

  func discard() {
    close()
    flushing.withLock { _ in
      saved.withLock { $0 = Saved() }
      folder.removeAll()
    }
  }
}

/// Stores packets of finished chunks until they are muxed. Workers save; the muxing thread loads.
protocol ChunkStore: Sendable {
  func save(_ run: PacketRun, as label: ChunkLabel) throws(MediaError)
  /// The packets saved as `label`; nil if missing or damaged.
  func load(_ label: ChunkLabel) -> PacketRun?
  /// After it returns, nothing is saved and no file touched.
  func close()
}

/// The chunk files of an encoding in a possibly shared folder: `NAME.NUMBER.packets`, and
/// `.packets.new` during writing.
struct ChunkFolder: Sendable {
  let path: String
  let name: String
  /// The digest stored in the files.
  let owner: Digest

  /// The packets of a chunk; nil if the file is missing, incomplete, of another owner or of another
  /// stretch of sound.
  func read(_ label: ChunkLabel) -> PacketRun? {
    guard let file = try? RawFile(path: path(label.chunk), O_RDONLY),
      let bytes = try? file.read(file.byteCount, at: 0),
      let record = ChunkRecord(bytes, owner: owner), record.label == label
    else { return nil }
    return record.run
  }

  /// Writes and replaces a chunk's file. It gets its name once its bytes are durable; the name is
  /// durable after `flush`.
  func write(_ run: PacketRun, as label: ChunkLabel) throws(MediaError) {
    let target = path(label.chunk)
    let new = target + Self.newSuffix
    let file = try RawFile(path: new, O_WRONLY | O_CREAT | O_TRUNC)
    try file.write(ChunkRecord(run, as: label).bytes(owner: owner), at: 0)
    try file.flush()
    guard unsafe rename(new, target) == 0 else { throw MediaError(writing: target, errno) }
  }

  /// Makes the files of `chunks` and their names durable.
  func flush(_ chunks: Set<Int>) throws(MediaError) {
    guard !chunks.isEmpty else { return }
    for chunk in chunks.sorted() { try RawFile(path: path(chunk), O_RDONLY).flush() }
    try RawFile(path: path, O_RDONLY | O_DIRECTORY).flushNames()
  }

  /// Deletes all files, finished or not. A file that cannot be deleted is harmless, as its owner
  /// does not recur.
  func removeAll() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    for name in names where isOurs(name) { unsafe unlink(path + "/" + name) }
  }

  static let suffix = ".packets"
  private static let newSuffix = ".new"

  private func path(_ chunk: Int) -> String { "\(path)/\(name).\(chunk)\(Self.suffix)" }

  private func isOurs(_ file: String) -> Bool {
    let file = file.hasSuffix(Self.newSuffix) ? file.dropLast(Self.newSuffix.count) : file[...]
    guard file.hasPrefix(name + "."), file.hasSuffix(Self.suffix) else { return false }
    let number = file.dropFirst(name.count + 1).dropLast(Self.suffix.count)
    return !number.isEmpty && number.allSatisfy(\.isWholeNumber)
  }
}

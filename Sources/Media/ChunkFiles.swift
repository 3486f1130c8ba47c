internal import Synchronization

/// Packets of chunks, each chunk in a file of its own, which the next process finds again.
///
/// A file gets its name when all its bytes are on the disk, and its digest tells whether they still are
/// what they were. Only the chunks before the first one that is missing count as progress, as the sound
/// is wanted in one piece.
final class ChunkFiles: ChunkStore, EncodingSurvival {
  private struct Saved {
    /// How many chunks from the first on are there. The last one of the stream never counts, since
    /// only the end of the sound tells that it is the last.
    var leading = 0
    /// Others that are there.
    var later: Set<Int> = []
    /// Those that were not flushed since they were written, by this process or an earlier one.
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
  // Held while files are flushed, so that nobody takes them for flushed before they are.
  private let flushing = Mutex(FlushOutcome())

  /// How many chunks from the first on were there at the beginning.
  let leadingAtStart: Int

  /// Looks which chunks an earlier process left; deletes them where this is a new start. O(bytes of
  /// the files that count), each of which is read and checked.
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

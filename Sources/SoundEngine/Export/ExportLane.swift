import Audio
import PipelineModel
import Platform
import Synchronization

/// A part of an export with a thread of its own, and the queue that feeds it.
// Unchecked: the work is touched by the lane's thread alone between `start` and the end of its
// queue, but for what it guards itself; `thread` is set by the sink before that begins, and read by
// it alone.
final class ExportLane: @unchecked Sendable {
  /// The name in recorded progress.
  let name: String
  /// The name that users see.
  let title: String
  /// The word length that its blocks are reduced to before they come; nil for floats.
  let quantization: Quantizer.Depth?
  /// The first frame that it needs; beyond every stream once it is done.
  let firstFrame: Frames
  /// Whether an earlier process had come further with it, and its files are damaged.
  let isSetBack: Bool

  private struct State {
    var artifact: Artifact?
    /// What an earlier process found in that.
    var check: ExportCheck?
    var failure: SpoolError?
    /// Whether every block of the stream was handed over.
    var isComplete = false
    /// Whether the artifact is no longer wanted.
    var isCancelled = false
  }

  private let state: Mutex<State>
  /// Nil once an earlier process has finished it.
  private let work: (any LaneWork)?
  private let pool: WorkerPool
  private let didSeal: @Sendable (Artifact) -> Void
  private let queue = BoundedQueue<SharedBuffer>(capacity: SoundStream.waitingBlocks)
  private var thread: BackgroundThread?

  /// - Parameters:
  ///   - noted: the recorded progress of an earlier process.
  ///   - pool: meters the work of the lane's thread.
  ///   - didSeal: called with the artifact on the lane's thread.
  ///   - make: makes the work, to resume from the recorded progress.
  init(
    _ name: String, title: String, quantization: Quantizer.Depth?,
    resuming noted: ExportSink.State.Lane?,
    in store: any ArtifactStore, pool: WorkerPool,
    didSeal: @escaping @Sendable (Artifact) -> Void = { _ in },
    _ make: (ExportSink.State.Lane?) throws(SpoolError) -> any LaneWork
  ) throws(SpoolError) {
    self.name = name
    self.title = title
    self.quantization = quantization
    self.pool = pool
    self.didSeal = didSeal
    if let artifact = noted?.artifact, (try? store.path(of: artifact)) != nil {
      state = Mutex(State(artifact: artifact, check: noted?.check))
      work = nil
      firstFrame = Frames(.max)
      isSetBack = false
    } else {
      state = Mutex(State())
      let work = try make(noted)
      self.work = work
      firstFrame = work.firstFrame
      isSetBack =
        noted.map { $0.artifact != nil || work.firstFrame < $0.needsFrom && !work.wasSealed }
        ?? false
    }
  }

  /// Starts to work on the blocks that come; the first one begins at `frame` of the stream.
  func start(at frame: Frames) {
    guard work != nil else { return }
    work?.begin(at: frame)
    thread = BackgroundThread(name: name) { [self] in
      do throws(SpoolError) {
        while let block = queue.receive() {
          try pool.measure { () throws(SpoolError) in try work?.take(block) }
        }
        // The result of a stream that was cut off looks whole, and must not be kept.
        guard state.withLock({ $0.isComplete }),
          let artifact = try pool.measure({ () throws(SpoolError) in try work?.seal() })
        else { return }
        state.withLock { $0.artifact = artifact }
        didSeal(artifact)
      } catch {
        state.withLock { $0.failure = error }
        queue.cancel()
      }
    }
  }

  /// Hands over a block; throws the error of the lane's thread.
  func take(_ block: SharedBuffer) throws(SpoolError) {
    guard work != nil else { return }
    if !queue.send(block), let error = state.withLock({ $0.failure }) { throw error }
  }

  /// The progress. Any thread may ask.
  var status: ExportSink.State.Lane {
    let (artifact, check) = state.withLock { ($0.artifact, $0.check) }
    var status =
      work?.status
      ?? ExportSink.State.Lane(needsFrom: .zero, byteCount: 0, state: "", check: check)
    status.artifact = artifact
    return status
  }

  /// Whether the work needs the stream once more. To be asked when it has finished.
  var needsStreamAgain: Bool { work?.needsStreamAgain ?? false }

  /// Makes durable what `status` counted. Any thread may call it.
  func flush() throws(SpoolError) {
    try work?.flush(isSealed: state.withLock { $0.artifact != nil })
  }

  /// The stream has ended: no more blocks will come.
  func close() {
    state.withLock { $0.isComplete = !$0.isCancelled }
    queue.close()
  }

  /// Waits for the artifact; nil if the stream was cut off, or the work needs it once more. Several
  /// threads may call it.
  func finish() throws(SpoolError) -> Artifact? {
    thread?.join()
    if let error = state.withLock({ $0.failure }) { throw error }
    let (artifact, isCancelled) = state.withLock { ($0.artifact, $0.isCancelled) }
    if artifact == nil, isCancelled { throw .cancelled }
    return artifact
  }

  /// Makes threads that wait for the lane return soon; finished work stays for a resumed pass. Any
  /// thread may call it.
  func cancel() {
    // First, so that the cancelled queue's end is not taken for the stream's.
    state.withLock {
      $0.isCancelled = true
      $0.isComplete = false
    }
    queue.cancel()
    work?.cancel()
  }

  /// Ends the thread of a pass that failed; finished work stays for a resumed pass.
  func abandon() {
    cancel()
    thread?.join()
  }
}

/// The work of a lane.
protocol LaneWork: AnyObject {
  /// The first frame that it needs.
  var firstFrame: Frames { get }
  /// The progress, without an artifact. Any thread may ask.
  var status: ExportSink.State.Lane { get }
  /// Whether it needs the stream once more, from where `status` says: known once it was sealed.
  var needsStreamAgain: Bool { get }
  /// The first block begins at `frame` of the stream.
  func begin(at frame: Frames)
  func take(_ block: SharedBuffer) throws(SpoolError)
  /// The stream has ended: makes the artifact.
  func seal() throws(SpoolError) -> Artifact?
  /// Whether an earlier process had made the artifact, and was stopped before it recorded that.
  var wasSealed: Bool { get }
  /// Makes durable what `status` counted. Any thread may call it.
  func flush(isSealed: Bool) throws(SpoolError)
  /// Makes threads that wait for the work return soon. Any thread may call it.
  func cancel()
}

extension LaneWork {
  /// It has all that it needs.
  var needsStreamAgain: Bool { false }
  var wasSealed: Bool { false }
}

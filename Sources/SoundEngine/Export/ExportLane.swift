import Audio
import Media
import PipelineModel
import Platform
import Synchronization

/// One format of an export: its encoder, its file, and the thread that feeds them.
// Unchecked: the encoder and the draft are touched by the lane's thread alone between `start` and
// the end of its queue, and by the sink only after the thread was joined. What any thread may ask
// for goes through the encoder's own guarded calls or the mutex.
final class ExportLane: ExportPart, @unchecked Sendable {
  let port: PortName
  var name: String { port.name }
  var title: String { "\(port) file" }
  /// The word length that its blocks are reduced to before they come; nil for floats.
  let quantization: Quantizer.Depth?
  /// What its samples are kept within, on its own thread; nil where everything is written.
  private let bounds: SampleBounds?
  /// The first frame that it needs; nothing at all once its file is whole.
  let firstFrame: Frames
  /// Whether an earlier process had come further with it, and what that left is damaged.
  let isSetBack: Bool

  private struct State {
    var artifact: Artifact?
    var failure: SpoolError?
    /// Whether every block of the stream was handed over.
    var isComplete = false
    /// Whether the file is no longer wanted.
    var isCancelled = false
  }

  private let state: Mutex<State>
  private let encoder: SoundFileEncoder?
  private var draft: ArtifactDraft?
  private let flusher: (@Sendable () throws(SpoolError) -> Void)?
  private let didSeal: @Sendable (PortName, Artifact) -> Void
  private let queue = BoundedQueue<SharedBuffer>(capacity: SoundStream.waitingBlocks)
  private var thread: BackgroundThread?

  init(
    _ target: ExportTarget, _ stream: SoundOutline, _ context: SinkContext,
    resuming noted: ExportState.Lane?
  ) throws(SpoolError) {
    port = target.format.port
    quantization = target.quantization
    bounds = target.bounds
    didSeal = context.didSeal
    if let artifact = noted?.artifact, (try? context.store.path(of: artifact)) != nil {
      state = Mutex(State(artifact: artifact))
      encoder = nil
      flusher = nil
      firstFrame = Frames(.max)
      isSetBack = false
      return
    }
    state = Mutex(State())
    let name = "\(context.work.name).\(port)"
    let claim = context.work.claim
    var resuming = noted?.state
    if let noted, noted.byteCount > 0 {
      draft = try claim.resumeDraft(
        name, .file, DraftPrefix(byteCount: noted.byteCount))
      if draft == nil { resuming = nil }
    }
    if draft == nil { draft = try claim.makeDraft(name, .file) }
    flusher = draft?.flusher
    do throws(MediaError) {
      let encoder = try SoundFileEncoder(
        path: draft?.path ?? "", spec: target.spec, format: stream.format, pool: context.pool,
        work: EncodingWork(folder: claim.folder, name: name, resuming: resuming))
      let first = encoder.progress().needsFrom
      firstFrame = first
      isSetBack = noted.map { $0.artifact != nil || first < $0.needsFrom } ?? false
      self.encoder = encoder
    } catch {
      throw ExportLane.failure(error, port)
    }
  }

  /// Begins to encode the blocks that come; the first one begins at `frame` of the stream.
  func start(at frame: Frames) {
    guard let encoder else { return }
    encoder.begin(at: frame)
    thread = BackgroundThread(name: port.name) { [self] in
      do throws(SpoolError) {
        while let block = queue.receive() { try encode(block) }
        // A stream that was cut off leaves a file that looks whole, and must not be taken for one.
        if state.withLock({ $0.isComplete }) { try seal() }
      } catch {
        state.withLock { $0.failure = error }
        queue.cancel()
      }
    }
  }

  /// Hands over a block; throws what went wrong in the lane's thread.
  func take(_ block: SharedBuffer) throws(SpoolError) {
    guard encoder != nil else { return }
    if !queue.send(block), let error = state.withLock({ $0.failure }) { throw error }
  }

  /// How far it is.
  var status: ExportState.Lane {
    let artifact = state.withLock { $0.artifact }
    let progress = encoder?.progress()
    return ExportState.Lane(
      needsFrom: progress?.needsFrom ?? .zero, byteCount: progress?.byteCount ?? 0,
      state: progress?.state ?? "", artifact: artifact)
  }

  /// Makes durable what `status` counted.
  func flush() throws(SpoolError) {
    guard let encoder, state.withLock({ $0.artifact == nil }) else { return }
    do throws(MediaError) { try encoder.flush() } catch { throw ExportLane.failure(error, port) }
  }

  /// The stream has ended: no more blocks will come.
  func close() {
    state.withLock { $0.isComplete = !$0.isCancelled }
    queue.close()
  }

  func finish() throws(SpoolError) -> Artifact? {
    thread?.join()
    if let error = state.withLock({ $0.failure }) { throw error }
    let (artifact, isCancelled) = state.withLock { ($0.artifact, $0.isCancelled) }
    if artifact == nil, isCancelled { throw .cancelled }
    return artifact
  }

  /// Makes threads that wait for the file return soon; what was encoded stays for a resumed pass.
  /// Any thread may call it.
  func cancel() {
    // First, so that an end of the queue that is none is not taken for the stream's.
    state.withLock {
      $0.isCancelled = true
      $0.isComplete = false
    }
    queue.cancel()
    encoder?.cancel()
  }

  /// Ends the thread of a pass that failed; what it wrote stays for a resumed pass.
  func abandon() {
    cancel()
    thread?.join()
  }

  /// An encoder's failure, without the draft's path, which means nothing to the user.
  private static func failure(_ error: MediaError, _ port: PortName) -> SpoolError {
    let general = SpoolError(error)
    return SpoolError(
      "cannot write the \(port) file", reason: error.reason, advice: error.advice,
      cause: general.cause)
  }

  private func encode(_ block: SharedBuffer) throws(SpoolError) {
    do throws(MediaError) { try encoder?.write(bounds?.bounded(block) ?? block) } catch {
      throw ExportLane.failure(error, port)
    }
  }

  private func seal() throws(SpoolError) {
    do throws(MediaError) { try encoder?.finish() } catch { throw ExportLane.failure(error, port) }
    guard let draft = draft.take() else { return }
    let sealed: Artifact
    sealed = try draft.seal()
    state.withLock { $0.artifact = sealed }
    didSeal(port, sealed)
  }
}

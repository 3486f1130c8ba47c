import AudioModel
import DSP
import Media
import PipelineEngine
import PipelineModel
import Synchronization
import Threading

/// Encodes a stream in several formats side by side: each has a thread that encodes, and AAC and
/// ALAC cut their work into pieces for the pool.
final class ExportSink: SoundSink {
  private let lanes: [ExportLane]
  /// One for each word length, shared by the formats that have it.
  private let quantizers: [Quantizer.Depth: Quantizer]
  private let buffers: BufferPool

  init(
    _ targets: [ExportTarget], _ stream: SoundOutline, _ context: SinkContext
  ) throws(StageError) {
    var lanes: [ExportLane] = []
    for target in targets { lanes.append(try ExportLane(target, stream, context)) }
    self.lanes = lanes
    quantizers = Dictionary(
      targets.compactMap(\.quantization).map { ($0, Quantizer($0, format: stream.format)) },
      uniquingKeysWith: { first, _ in first })
    buffers = context.buffers
    lanes.forEach { $0.start() }
  }

  deinit { lanes.forEach { $0.abandon() } }

  func take(_ block: SharedBuffer) throws(StageError) {
    let reduced = quantizers.mapValues { quantizer in
      var output = buffers.makeBuffer(
        channelCount: block.buffer.channelCount, capacity: block.buffer.capacity)
      quantizer.process(block.buffer, into: &output)
      return SharedBuffer(output)
    }
    for lane in lanes { try lane.take(lane.quantization.flatMap { reduced[$0] } ?? block) }
  }

  func finish() throws(StageError) -> PassOutcome.Result {
    lanes.forEach { $0.close() }
    var result = PassOutcome.Result()
    for lane in lanes { result.artifacts[lane.port] = try lane.finish() }
    return result
  }
}

/// One format's thread.
// Unchecked: the encoder and the draft are touched by the lane's thread alone between `start` and
// the end of its queue, and by the sink only after the thread was joined.
private final class ExportLane: @unchecked Sendable {
  let port: PortName
  /// The word length that its blocks are reduced to before they come; nil for floats.
  let quantization: Quantizer.Depth?
  private let encoder: SoundFileEncoder
  private let didSeal: @Sendable (PortName, Artifact) -> Void
  private var draft: ArtifactDraft?
  private let queue = BoundedQueue<SharedBuffer>(capacity: 4)
  private let failure = Mutex<StageError?>(nil)
  /// Whether every block of the stream was handed over.
  private let isComplete = Atomic(false)
  private var artifact: Artifact?
  private var thread: BackgroundThread?

  init(
    _ target: ExportTarget, _ stream: SoundOutline, _ context: SinkContext
  ) throws(StageError) {
    port = target.format.port
    quantization = target.quantization
    didSeal = context.didSeal
    do throws(StoreError) {
      draft = try context.store.makeDraft(.file)
    } catch {
      throw StageError(error)
    }
    do throws(MediaError) {
      encoder = try SoundFileEncoder(
        path: draft?.path ?? "", spec: target.spec, format: stream.format,
        pool: context.pool)
    } catch {
      throw ExportLane.failure(error, port)
    }
  }

  func start() {
    thread = BackgroundThread(name: port.name) { [self] in
      do throws(StageError) {
        while let block = queue.receive() { try encode(block) }
        // A stream that was cut off leaves a file that looks whole, and must not be taken for one.
        if isComplete.load(ordering: .acquiring) { try seal() }
      } catch {
        failure.withLock { $0 = error }
        queue.cancel()
      }
    }
  }

  /// Hands over a block; throws what went wrong in the lane's thread.
  func take(_ block: SharedBuffer) throws(StageError) {
    if !queue.send(block), let error = failure.withLock({ $0 }) { throw error }
  }

  /// The stream has ended: no more blocks will come.
  func close() {
    isComplete.store(true, ordering: .releasing)
    queue.close()
  }

  /// Waits for the file.
  func finish() throws(StageError) -> Artifact? {
    thread?.join()
    if let error = failure.withLock({ $0 }) { throw error }
    return artifact
  }

  /// Ends the thread of a pass that failed; the draft is deleted with it.
  func abandon() {
    queue.cancel()
    thread?.join()
  }

  /// An encoder's failure, without the draft's path, which means nothing to the user.
  private static func failure(_ error: MediaError, _ port: PortName) -> StageError {
    let general = StageError(error)
    return StageError(
      "cannot write the \(port) file", reason: error.reason, advice: error.advice,
      cause: general.cause)
  }

  private func encode(_ block: SharedBuffer) throws(StageError) {
    do throws(MediaError) { try encoder.write(block) } catch {
      throw ExportLane.failure(error, port)
    }
  }

  private func seal() throws(StageError) {
    do throws(MediaError) { try encoder.finish() } catch { throw ExportLane.failure(error, port) }
    guard let draft = draft.take() else { return }
    let sealed: Artifact
    do throws(StoreError) { sealed = try draft.seal() } catch { throw StageError(error) }
    artifact = sealed
    didSeal(port, sealed)
  }
}

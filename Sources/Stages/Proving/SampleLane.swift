import AudioModel
import DSP
import Hashing
import Media
import PipelineEngine
import PipelineModel
import Proof
import Synchronization
import Threading

/// Hashes every second of the samples that exports without loss keep, on a thread of its own: one lane
/// for all formats that have the same samples. What is noted are whole blocks; of one that is half
/// done, the sound is needed again.
// Unchecked: `hasher` and `position` are touched by the lane's thread alone between `start` and the
// end of its queue, and by nobody afterwards; `thread` is set by the sink before that begins, and read
// by it alone.
final class SampleLane: ExportPart, @unchecked Sendable {
  let name: String
  let title = "hashes of its samples"
  let quantization: Quantizer.Depth?
  let firstFrame: Frames
  let isSetBack: Bool

  private struct State {
    var artifact: Artifact?
    var failure: StageError?
    /// Whether every block of the stream was handed over.
    var isComplete = false
    /// Whether nobody waits for the hashes any more.
    var isCancelled = false
  }

  // Few enough that their bytes stay in the processor's cache.
  private static let framesAtOnce = 2048

  private let state: Mutex<State>
  private let format: SampleFormat
  private let sound: AudioFormat
  private let packing: LinearSamples
  private let store: any ArtifactStore
  private let pages: LeafPages
  private var hasher: SampleLeafHasher
  private var position = Frames.zero
  private let queue = BoundedQueue<SharedBuffer>(capacity: SoundStream.waitingBlocks)
  private var thread: BackgroundThread?

  /// The port of the hashes of what comes out of another port: `wav`, or a piece's `wav.01`.
  static func port(besides port: PortName) -> PortName {
    let parts = port.name.split(separator: ".", maxSplits: 1)
    let kind = parts.first.map { "\($0)-samples" } ?? "samples"
    return PortName(([kind] + parts.dropFirst().map(String.init)).joined(separator: "."))
  }

  /// What the lane for the samples of `target` is called; nil where those depend on the decoder.
  static func name(of target: ExportTarget) -> String? {
    target.samples.map { "samples-\($0.rawValue)" }
  }

  /// A lane for the samples of `target`; nil where those depend on the decoder.
  init?(
    _ target: ExportTarget, _ stream: SoundOutline, _ context: SinkContext,
    resuming noted: ExportStanding.Lane?
  ) throws(StageError) {
    guard let format = target.samples, let name = SampleLane.name(of: target),
      let packing = target.packing
    else { return nil }
    self.name = name
    self.format = format
    self.packing = packing
    quantization = target.quantization
    sound = stream.format
    store = context.store
    let done = noted?.artifact.flatMap { artifact in
      (try? context.store.path(of: artifact)) == nil ? nil : artifact
    }
    state = Mutex(State(artifact: done))
    let standing = noted.flatMap { try? Findings.decode(LeafPages.Standing.self, from: $0.state) }
    do throws(StoreError) {
      pages = try LeafPages(
        context.work.claim, "\(context.work.name).\(name)",
        resuming: done == nil ? standing : nil)
    } catch {
      throw StageError(error)
    }
    hasher = SampleLeafHasher(
      format: format, rate: Int(sound.sampleRate.value), channels: sound.channelCount,
      leaves: pages.leavesAtStart)
    let first = done == nil ? Frames(hasher.framesInLeaves) : Frames(.max)
    firstFrame = first
    isSetBack = noted.map { done == nil && ($0.artifact != nil || first < $0.needsFrom) } ?? false
  }

  func start(at frame: Frames) {
    guard state.withLock({ $0.artifact == nil }) else { return }
    position = frame
    thread = BackgroundThread(name: "hash-samples") { [self] in
      do throws(StageError) {
        while let block = queue.receive() { try hash(block.buffer) }
        // The hashes of a stream that was cut off must not be taken for those of the whole.
        if state.withLock({ $0.isComplete }) { try seal() }
      } catch {
        state.withLock { $0.failure = error }
        queue.cancel()
      }
    }
  }

  func take(_ block: SharedBuffer) throws(StageError) {
    guard thread != nil else { return }
    if !queue.send(block), let error = state.withLock({ $0.failure }) { throw error }
  }

  private func hash(_ block: borrowing AudioBuffer) throws(StageError) {
    let skipped = max(0, firstFrame.count - position.count)
    let count = block.frameCount.count
    position += block.frameCount
    for start in stride(from: skipped, to: count, by: SampleLane.framesAtOnce) {
      let had = hasher.leaves.count
      hasher.update(packing.bytes(of: block, start..<min(start + SampleLane.framesAtOnce, count)))
      do throws(StoreError) {
        for leaf in hasher.leaves[had...] { try pages.append(leaf) }
      } catch {
        throw StageError(error)
      }
    }
  }

  private func seal() throws(StageError) {
    let frames = hasher.finish()
    let extent = SampleExtent(
      format: format, rate: Int(sound.sampleRate.value), channels: sound.channelCount,
      frames: frames)
    guard let tree = extent.flatMap({ SampleTree($0, leaves: hasher.leaves) }) else { return }
    do throws(StoreError) {
      let artifact = try store.keep(tree.fileBytes, as: .file)
      state.withLock { $0.artifact = artifact }
    } catch {
      throw StageError(error)
    }
  }

  var standing: ExportStanding.Lane {
    let standing = pages.standing
    return ExportStanding.Lane(
      needsFrom: Frames(standing.count * Int(sound.sampleRate.value)), byteCount: 0,
      state: (try? Findings.json(standing)) ?? "", artifact: state.withLock { $0.artifact })
  }

  func flush() throws(StageError) {
    do throws(StoreError) { try pages.flush() } catch { throw StageError(error) }
  }

  func close() {
    state.withLock { $0.isComplete = !$0.isCancelled }
    queue.close()
  }

  /// Waits for the list of hashes.
  func finish() throws(StageError) -> Artifact? {
    thread?.join()
    if let error = state.withLock({ $0.failure }) { throw error }
    let (artifact, isCancelled) = state.withLock { ($0.artifact, $0.isCancelled) }
    if artifact == nil, isCancelled { throw .cancelled }
    return artifact
  }

  func cancel() {
    // First, so that an end of the queue that is none is not taken for the stream's.
    state.withLock {
      $0.isCancelled = true
      $0.isComplete = false
    }
    queue.cancel()
  }

  func abandon() {
    cancel()
    thread?.join()
  }
}

package import Audio
import Media
package import PipelineEngine
import PipelineModel
package import Platform
import Proof
import Synchronization

/// Encodes a stream in several formats side by side: each has a thread that encodes, and AAC and
/// ALAC cut their work into pieces for the pool.
package final class ExportSink: SoundSink {
  package let firstFrame: Frames
  /// The lanes of the files, then those of the hashes of their samples, one for all that have the
  /// same.
  private let lanes: [ExportLane]
  /// The port of each output, and the name of its lane.
  private let outputs: [(port: PortName, name: String)]
  /// One for each word length, shared by the formats that have it.
  private let quantizers: [Quantizer.Depth: Quantizer]
  private let buffers: BufferPool
  private let targets: [ExportTarget]
  /// The next frame of the stream; known to the thread that gives blocks alone.
  private var position: Frames
  private let clipped: Mutex<ClippedSamples>

  package init(
    _ targets: [ExportTarget], _ stream: SoundOutline, _ context: SinkContext
  ) throws(SpoolError) {
    var lanes: [ExportLane] = []
    var outputs: [(port: PortName, name: String)] = []
    let noted = context.work.resuming.flatMap { try? Findings.decode(State.self, from: $0.state) }
    for target in targets {
      let port = target.format.port
      let didSeal = context.didSeal
      lanes.append(
        try ExportLane(
          port.name, title: "\(port) file", quantization: target.quantization,
          resuming: noted?.lanes[port.name], in: context.store, pool: context.pool,
          didSeal: { didSeal(port, $0) }
        ) { (noted) throws(SpoolError) in
          try FileEncoding(target, stream, context, resuming: noted)
        })
      outputs.append((port, port.name))
    }
    for target in targets {
      guard let samples = target.samples, let packing = target.packing else { continue }
      let name = "samples-\(samples.rawValue)"
      outputs.append((target.format.samplesPort, name))
      guard !lanes.contains(where: { $0.name == name }) else { continue }
      lanes.append(
        try ExportLane(
          name, title: "hashes of its samples", quantization: target.quantization,
          resuming: noted?.lanes[name], in: context.store, pool: context.pool
        ) { (noted) throws(SpoolError) in
          try SampleHashing(name, samples, packing, stream.format, context, resuming: noted)
        })
    }
    self.lanes = lanes
    self.outputs = outputs
    let start = lanes.map(\.firstFrame).min() ?? .zero
    firstFrame = start
    position = start
    self.targets = targets
    clipped = Mutex(noted?.clipped ?? ClippedSamples())
    quantizers = Dictionary(
      targets.compactMap(\.quantization).map {
        ($0, Quantizer($0, format: stream.format, startingAt: start))
      },
      uniquingKeysWith: { first, _ in first })
    buffers = context.buffers
    lanes.forEach { $0.start(at: start) }
  }

  deinit { lanes.forEach { $0.abandon() } }

  package func take(_ block: SharedBuffer) throws(SpoolError) {
    if targets.contains(where: { $0.depth != nil }) {
      // Before the lanes take it: an entry of their progress never counts too little.
      clipped.withLock { $0.add(block.buffer, at: position) }
    }
    position = position + block.buffer.frameCount
    let reduced = quantizers.mapValues { quantizer in
      var output = buffers.makeBuffer(
        channelCount: block.buffer.channelCount, capacity: block.buffer.capacity)
      quantizer.process(block.buffer, into: &output)
      return SharedBuffer(output)
    }
    for lane in lanes { try lane.take(lane.quantization.flatMap { reduced[$0] } ?? block) }
  }

  package func progress() -> ListenerProgress? {
    let standings = lanes.map { ($0.name, $0.status) }
    let status = State(
      lanes: Dictionary(standings, uniquingKeysWith: { first, _ in first }),
      clipped: clipped.withLock { $0 })
    guard let text = try? Findings.json(status) else { return nil }
    let needs = standings.filter { $0.1.artifact == nil }.map(\.1.needsFrom).min()
    return ListenerProgress(needsFrom: needs ?? Frames(.max), state: text)
  }

  package var damagedParts: [String: Frames] {
    Dictionary(
      lanes.filter(\.isSetBack).map { ("unfinished \($0.title)", $0.firstFrame) },
      uniquingKeysWith: { first, _ in first })
  }

  package func flush() throws(SpoolError) {
    for lane in lanes { try lane.flush() }
  }

  package func cancel() { lanes.forEach { $0.cancel() } }

  /// The stream has ended; the files are completed while others are begun.
  package func close() { lanes.forEach { $0.close() } }

  package func finish() throws(SpoolError) -> PassOutcome.Result {
    close()
    var result = PassOutcome.Result()
    result.warnings = [clipped.withLock { $0 }.warning(of: targets)].compactMap { $0 }
    for lane in lanes {
      let artifact = try lane.finish()
      for output in outputs where output.name == lane.name {
        result.artifacts[output.port] = artifact
      }
    }
    return result
  }
}

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
      state = Mutex(State(artifact: artifact))
      work = nil
      firstFrame = Frames(.max)
      isSetBack = false
    } else {
      state = Mutex(State())
      let work = try make(noted)
      self.work = work
      firstFrame = work.firstFrame
      isSetBack = noted.map { $0.artifact != nil || work.firstFrame < $0.needsFrom } ?? false
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
    let artifact = state.withLock { $0.artifact }
    var status = work?.status ?? ExportSink.State.Lane(needsFrom: .zero, byteCount: 0, state: "")
    status.artifact = artifact
    return status
  }

  /// Makes durable what `status` counted. Any thread may call it.
  func flush() throws(SpoolError) {
    try work?.flush(isSealed: state.withLock { $0.artifact != nil })
  }

  /// The stream has ended: no more blocks will come.
  func close() {
    state.withLock { $0.isComplete = !$0.isCancelled }
    queue.close()
  }

  /// Waits for the artifact; nil if the stream was cut off.
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
  /// The first block begins at `frame` of the stream.
  func begin(at frame: Frames)
  func take(_ block: SharedBuffer) throws(SpoolError)
  /// The stream has ended: makes the artifact.
  func seal() throws(SpoolError) -> Artifact?
  /// Makes durable what `status` counted. Any thread may call it.
  func flush(isSealed: Bool) throws(SpoolError)
  /// Makes threads that wait for the work return soon. Any thread may call it.
  func cancel()
}

extension ExportSink {
  /// The recorded progress of an export.
  struct State: Codable, Hashable {
    /// How far one format is.
    struct Lane: Codable, Hashable {
      /// The frame from which its encoder needs sound.
      let needsFrom: Frames
      /// Bytes of its file that count.
      let byteCount: Int
      /// The state from which its encoder resumes.
      let state: String
      /// The file, once it is whole.
      var artifact: Artifact?
    }

    /// The formats by the names of their ports.
    let lanes: [String: Lane]
    /// What was counted so far; nil in entries of earlier versions.
    var clipped: ClippedSamples?
  }

  /// The warning of what the files of several sinks clip, by their recorded progress; nil where
  /// there is nothing.
  package static func warning(of targets: [ExportTarget], in progress: [String]) -> String? {
    progress.compactMap { try? Findings.decode(State.self, from: $0).clipped }
      .reduce(ClippedSamples()) { $0.joined(with: $1) }.warning(of: targets)
  }
}

/// Encodes a stream to a file of one format.
final class FileEncoding: LaneWork {
  let firstFrame: Frames
  private let port: PortName
  /// Limits the samples; nil for formats that take all.
  private let bounds: SampleBounds?
  private let encoder: SoundFileEncoder
  // Optional only so that it can be consumed at the end.
  private var draft: ArtifactDraft?

  init(
    _ target: ExportTarget, _ stream: SoundOutline, _ context: SinkContext,
    resuming noted: ExportSink.State.Lane?
  ) throws(SpoolError) {
    port = target.format.port
    bounds = target.bounds
    let name = "\(context.work.name).\(port)"
    let claim = context.work.claim
    var resuming = noted?.state
    if let noted, noted.byteCount > 0 {
      draft = try claim.resumeDraft(name, .file, DraftPrefix(byteCount: noted.byteCount))
      if draft == nil { resuming = nil }
    }
    if draft == nil { draft = try claim.makeDraft(name, .file) }
    do {
      encoder = try SoundFileEncoder(
        path: draft?.path ?? "", spec: target.spec, format: stream.format, pool: context.pool,
        work: EncodingWork(folder: claim.folder, name: name, resuming: resuming))
    } catch {
      throw FileEncoding.failure(error, port)
    }
    firstFrame = encoder.progress().needsFrom
  }

  func begin(at frame: Frames) { encoder.begin(at: frame) }

  func take(_ block: SharedBuffer) throws(SpoolError) {
    do { try encoder.write(bounds?.bounded(block) ?? block) } catch {
      throw FileEncoding.failure(error, port)
    }
  }

  func seal() throws(SpoolError) -> Artifact? {
    do { try encoder.finish() } catch { throw FileEncoding.failure(error, port) }
    guard let draft = draft.take() else { return nil }
    return try draft.seal()
  }

  var status: ExportSink.State.Lane {
    let progress = encoder.progress()
    return ExportSink.State.Lane(
      needsFrom: progress.needsFrom, byteCount: progress.byteCount, state: progress.state)
  }

  func flush(isSealed: Bool) throws(SpoolError) {
    guard !isSealed else { return }
    do { try encoder.flush() } catch { throw FileEncoding.failure(error, port) }
  }

  func cancel() { encoder.cancel() }

  /// An encoder's error, without the draft's path, which means nothing to the user but on a full disk.
  private static func failure(_ error: SpoolError, _ port: PortName) -> SpoolError {
    if error.isFullDisk { return error }
    return SpoolError(
      "cannot write the \(port) file", reason: error.reason, advice: error.advice,
      cause: error.cause)
  }
}

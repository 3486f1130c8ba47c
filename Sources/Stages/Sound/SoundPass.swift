import AudioModel
import DSP
import PipelineEngine
import PipelineModel
import Threading

/// One traversal of the sound: blocks go from the source through the processors, and at some of
/// the steps on the way to taps, each with a thread of its own.
final class SoundPass {
  /// Frames in a block: long enough that hand-offs cost nothing, short enough that a few of them
  /// between threads are little memory.
  private static let blockLength = Frames(16384)
  /// Blocks between two reports of progress.
  private static let reportInterval = 8

  /// Processors without a tap between them, and the taps behind the last.
  private struct Segment {
    let chain: ProcessorChain?
    let taps: [SoundTap]
    /// Frames that the processors up to here may hold back.
    let heldBack: Frames
  }

  private let order: PassOrder
  private let context: PassContext
  private let pool: WorkerPool
  private let source: any SoundSource
  private let sourceStep: StepID
  private let segments: [Segment]
  private let buffers = BufferPool()
  private let fault: PassFault
  private var frames = Frames.zero

  /// Opens what the pass begins with.
  static func open(
    _ order: PassOrder, in context: PassContext
  ) throws(PassFailure) -> any SoundSource {
    switch order.start {
    case .recording(let path):
      guard let first = order.path.first, let stage = first.step.stage as? any SoundSourceStage
      else { throw PassFailure(order.path.first?.step.id, StageError("this is no source")) }
      do { return try stage.open(path) } catch { throw PassFailure(first.step.id, error) }
    case .kept(let id, let artifact):
      do { return try KeptSound(artifact, in: context.store).open() } catch {
        throw PassFailure(id, error)
      }
    }
  }

  /// Makes the processors and the taps of a pass.
  init(
    _ order: PassOrder, source: any SoundSource, context: PassContext, pool: WorkerPool
  ) throws(PassFailure) {
    self.order = order
    self.context = context
    self.pool = pool
    self.source = source
    let fault = PassFault()
    self.fault = fault
    let builder = SoundPassBuilder(
      order, outline: source.outline, context: context, pool: pool,
      buffers: buffers, fault: fault)
    let filters: ArraySlice<PassOrder.Member>
    var member: PassOrder.Member?
    switch order.start {
    case .recording:
      member = order.path.first
      sourceStep = order.path.first?.step.id ?? StepID("")
      filters = order.path.dropFirst()
    case .kept(let id, _):
      sourceStep = id
      filters = order.path[...]
    }
    var segments = [
      Segment(
        chain: nil, taps: try builder.taps(at: sourceStep, member, isSource: true),
        heldBack: .zero)
    ]
    var processors: [any Processor] = []
    var heldBack = Frames.zero
    for filter in filters {
      processors.append(try builder.processor(filter))
      let taps = try builder.taps(at: filter.step.id, filter, isSource: false)
      if !taps.isEmpty || filter.step.id == filters.last?.step.id {
        let chain = ProcessorChain(processors, format: source.outline.format)
        heldBack += chain.latency
        segments.append(Segment(chain: chain, taps: taps, heldBack: heldBack))
        processors = []
      }
    }
    self.segments = segments
  }

  /// Streams everything, and collects what the taps give.
  func run() throws(PassFailure) -> PassOutcome {
    let taps = segments.flatMap(\.taps)
    taps.forEach { $0.start() }
    stream()
    taps.forEach { $0.close() }
    taps.forEach { $0.join() }
    if let failure = fault.failure { throw failure }
    let rate = source.outline.format.sampleRate
    guard frames.count > 0 else {
      throw PassFailure(
        sourceStep,
        StageError("the recording holds no sound", advice: "check that it is the right file"))
    }
    var outcome = PassOutcome(mediaSeconds: frames.duration(at: rate).value)
    var kept: [StepID: Artifact] = [:]
    if case .kept(let id, let artifact) = order.start { kept[id] = artifact }
    for tap in taps where !tap.isAnalysis {
      let result = try tap.finish()
      if let artifact = result.artifacts[.sound] { kept[tap.at] = artifact }
      outcome.results[tap.step, default: PassOutcome.Result()].merge(result)
    }
    for tap in taps where tap.isAnalysis {
      guard let artifact = kept[tap.at] else { continue }
      outcome.results[tap.step, default: PassOutcome.Result()].merge(
        try tap.conclude(artifact, context, pool: pool))
    }
    try describeSource(&outcome)
    for (step, result) in outcome.results {
      for warning in result.warnings { context.warn(step, warning) }
    }
    return outcome
  }

  /// What is recorded about a source that was done in this pass.
  private func describeSource(_ outcome: inout PassOutcome) throws(PassFailure) {
    guard case .recording = order.start, order.path.first?.isPending == true else { return }
    var result = outcome.results[sourceStep] ?? PassOutcome.Result()
    result.warnings += source.warnings
    result.identity = result.identity ?? result.artifacts[.sound]?.digest
    result.hint = SoundPassExecutor.hint(
      source.outline.format, seconds: Int(outcome.mediaSeconds.rounded()))
    if let report = source.report() {
      do { result.artifacts[.measurement] = try context.store.keep(report, as: .measurement) } catch
      { throw PassFailure(sourceStep, StageError(error)) }
    }
    outcome.results[sourceStep] = result
  }

  // MARK: Streaming

  /// Reads on a thread of its own, and processes on this one.
  private func stream() {
    let queue = BoundedQueue<SharedBuffer>(capacity: 4)
    fault.onFailure { queue.cancel() }
    let reader = SoundReader(
      source, step: sourceStep, blockLength: SoundPass.blockLength, buffers: buffers, into: queue,
      fault: fault)
    reader.start(check: context.check)
    var blocks = 0
    while let block = queue.receive() {
      frames += block.buffer.frameCount
      flow(block, from: 0)
      blocks += 1
      if blocks % SoundPass.reportInterval == 0 { report(isAtEnd: false) }
    }
    reader.join()
    guard fault.failure == nil else { return }
    flush()
    report(isAtEnd: true)
  }

  /// Sends a block through the segments from `first` on.
  private func flow(_ block: SharedBuffer, from first: Int) {
    var block = block
    for segment in segments[first...] {
      if let chain = segment.chain {
        // Every block of a segment has the same size, whatever it holds, so that memory is used
        // again.
        var output = buffers.makeBuffer(
          channelCount: chain.outputFormat.channelCount, capacity: capacity(behind: segment))
        chain.process(block.buffer, into: &output)
        block = SharedBuffer(output)
      }
      guard block.buffer.frameCount.count > 0 else { return }
      for tap in segment.taps { tap.take(block) }
    }
  }

  /// The most frames that a segment gives for a block: those that came in, and all that was held
  /// back above.
  private func capacity(behind segment: Segment) -> Frames {
    SoundPass.blockLength + segment.heldBack
  }

  /// The stream has ended: what the processors held back goes through those behind them.
  private func flush() {
    for (index, segment) in segments.enumerated() {
      guard let chain = segment.chain else { continue }
      var output = AudioBuffer(
        channelCount: chain.outputFormat.channelCount, capacity: chain.latency)
      chain.finish(into: &output)
      guard output.frameCount.count > 0 else { continue }
      let block = SharedBuffer(output)
      for tap in segment.taps { tap.take(block) }
      if index + 1 < segments.count { flow(block, from: index + 1) }
    }
  }

  private func report(isAtEnd: Bool) {
    let rate = source.outline.format.sampleRate
    let done = frames.duration(at: rate).value
    let total = isAtEnd ? done : source.outline.duration?.value
    for member in order.path where member.isPending {
      context.report(member.step.id, done, total)
    }
  }
}

import Audio
import PipelineEngine
import PipelineModel
import Platform

/// A listener with the queue and the thread that feed it.
// Unchecked: blocks reach the listener on the tap's own thread between `start` and `join`, and it is
// concluded by the maker's thread afterwards; what other threads ask of it, `progress`, `flush` and
// `cancel`, every listener guards by itself.
final class SoundTap: @unchecked Sendable {
  /// What takes the blocks.
  enum End {
    case sink(any SoundSink)
    /// An earlier process has finished it.
    case finished(PassOutcome.Result)

    var sink: (any SoundSink)? {
      guard case .sink(let sink) = self else { return nil }
      return sink
    }
  }

  /// The step that it works for.
  let step: StepID
  /// The step whose output it hears.
  let at: StepID
  private let end: End
  private let queue = BoundedQueue<SharedBuffer>(capacity: SoundStream.waitingBlocks)
  private let fault: PassFault
  private let report: @Sendable (Frames) -> Void
  private let meter: WorkMeter
  private var thread: BackgroundThread?
  /// The first frame that the listener has not had from an earlier process.
  let firstFrame: Frames

  init(
    step: StepID, at position: StepID, _ end: End, fault: PassFault, meter: WorkMeter,
    report: @escaping @Sendable (Frames) -> Void
  ) {
    self.step = step
    at = position
    self.end = end
    self.fault = fault
    self.report = report
    self.meter = meter
    firstFrame = end.sink?.firstFrame ?? Frames(.max)
    let queue = queue
    fault.onFailure { [weak self] in
      queue.cancel()
      self?.end.sink?.cancel()
    }
  }

  var isAnalysis: Bool { end.sink is any SoundAnalysis }

  /// Begins to take blocks on a thread of its own.
  func start() {
    guard end.sink != nil else { return }
    thread = BackgroundThread(name: "tap") { [self] in
      var frames = firstFrame
      var blocks = 0
      do throws(SpoolError) {
        while let block = queue.receive() {
          try meter.measure { () throws(SpoolError) in try end.sink?.take(block) }
          frames += block.buffer.frameCount
          blocks += 1
          if blocks % 8 == 0 { report(frames) }
        }
      } catch {
        fault.record(PassFailure(step, error))
      }
    }
  }

  /// Hands over a block whose first frame has the number `position`; waits while the tap is behind.
  /// What the listener had already goes by.
  func take(_ block: SharedBuffer, at position: Frames) {
    let count = block.buffer.frameCount
    guard position + count > firstFrame else { return }
    guard position < firstFrame else {
      _ = queue.send(block)
      return
    }
    let had = firstFrame - position
    var rest = AudioBuffer(channelCount: block.buffer.channelCount, capacity: count - had)
    rest.copy(from: block.buffer, start: had, count: count - had)
    _ = queue.send(SharedBuffer(rest))
  }

  /// No more blocks will come.
  func close() { queue.close() }

  /// Waits until every block is taken.
  func join() { thread?.join() }

  /// How far the listener is; nil where it could only start from the beginning.
  var status: ListenerProgress? { end.sink?.progress() }

  /// Makes durable what `status` spoke of.
  func flush() throws(SpoolError) { try end.sink?.flush() }

  /// Seals what a sink wrote.
  func finish() throws(PassFailure) -> PassOutcome.Result {
    switch end {
    case .sink(let sink):
      do throws(SpoolError) {
        return try meter.measure { () throws(SpoolError) in try sink.finish() }
      } catch { throw PassFailure(step, error) }
    case .finished(let result): return result
    }
  }

  /// Whether the sink needs the stream once more: asked when it has finished.
  var needsStreamAgain: Bool { end.sink?.needsStreamAgain ?? false }

  /// Lets an analysis decide, over the sound that was kept where it listened.
  func conclude(
    _ artifact: Artifact, _ context: PassContext, pool: WorkerPool
  ) throws(PassFailure) -> PassOutcome.Result {
    guard let analysis = end.sink as? any SoundAnalysis else { return PassOutcome.Result() }
    return try attributing(to: step) { () throws(SpoolError) in
      try meter.measure { () throws(SpoolError) in
        try analysis.conclude(
          try PCMArtifact(artifact, in: context.store), store: context.store,
          pool: WorkerPool(sharing: pool, meter), check: context.check)
      }
    }
  }
}

extension PassOutcome.Result {
  /// Takes over what another tap of the same step gave.
  mutating func merge(_ other: PassOutcome.Result) {
    identity = identity ?? other.identity
    artifacts.merge(other.artifacts) { $1 }
    memo = memo ?? other.memo
    hint = hint ?? other.hint
    warnings += other.warnings
  }
}

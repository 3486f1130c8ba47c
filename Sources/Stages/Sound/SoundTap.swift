import AudioModel
import PipelineEngine
import PipelineModel
import Threading

/// A sink or an analysis with the queue and the thread that feed it.
// Unchecked: what the tap ends in is touched by one thread at a time, by the maker until `start`,
// by the tap's own thread until `join`, and by the maker again afterwards.
final class SoundTap: @unchecked Sendable {
  /// What takes the blocks.
  enum End {
    case sink(any SoundSink)
    case analysis(any SoundAnalysis)
  }

  /// The step that it works for.
  let step: StepID
  /// The step whose output it hears.
  let at: StepID
  private let end: End
  private let queue = BoundedQueue<SharedBuffer>(capacity: 4)
  private let fault: PassFault
  private let report: @Sendable (Frames) -> Void
  private var thread: BackgroundThread?

  init(
    step: StepID, at position: StepID, _ end: End, fault: PassFault,
    report: @escaping @Sendable (Frames) -> Void
  ) {
    self.step = step
    at = position
    self.end = end
    self.fault = fault
    self.report = report
    let queue = queue
    fault.onFailure { queue.cancel() }
  }

  var isAnalysis: Bool {
    if case .analysis = end { return true }
    return false
  }

  /// Begins to take blocks on a thread of its own.
  func start() {
    thread = BackgroundThread(name: "tap") { [self] in
      var frames = Frames.zero
      var blocks = 0
      do throws(StageError) {
        while let block = queue.receive() {
          switch end {
          case .sink(let sink): try sink.take(block)
          case .analysis(let analysis): analysis.hear(block)
          }
          frames += block.buffer.frameCount
          blocks += 1
          if blocks % 8 == 0 { report(frames) }
        }
      } catch {
        fault.note(PassFailure(step, error))
      }
    }
  }

  /// Hands over a block; waits while the tap is behind.
  func take(_ block: SharedBuffer) { _ = queue.send(block) }

  /// No more blocks will come.
  func close() { queue.close() }

  /// Waits until every block is taken.
  func join() { thread?.join() }

  /// Seals what a sink wrote.
  func finish() throws(PassFailure) -> PassOutcome.Result {
    guard case .sink(let sink) = end else { return PassOutcome.Result() }
    do { return try sink.finish() } catch { throw PassFailure(step, error) }
  }

  /// Lets an analysis decide, over the sound that was kept where it listened.
  func conclude(
    _ artifact: Artifact, _ context: PassContext, pool: WorkerPool
  ) throws(PassFailure) -> PassOutcome.Result {
    guard case .analysis(let analysis) = end else { return PassOutcome.Result() }
    do {
      return try analysis.conclude(
        try KeptSound(artifact, in: context.store), store: context.store, pool: pool,
        check: context.check)
    } catch {
      throw PassFailure(step, error)
    }
  }
}

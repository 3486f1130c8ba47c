import AudioModel
import FoundationEssentials
import PipelineModel
import Synchronization

/// A meter that hears a stream, and goes on with what another process has heard of it.
final class HearingMeter<Meter: Analyser>: Sendable {
  private struct State: @unchecked Sendable {
    // The meter is touched only while the lock is held.
    let meter: Meter
    var heard: Frames
  }

  /// The first frame that it has not heard.
  let firstFrame: Frames
  private let state: Mutex<State>

  /// Gives the meter what was noted last. What does not fit it is not used: it hears everything.
  init(_ make: () -> Meter, resuming progress: ListenerProgress?) {
    if let progress, let bytes = Data(base64Encoded: progress.state) {
      let meter = make()
      if (try? meter.restore(ProcessorSnapshot(bytes: Array(bytes)))) != nil {
        firstFrame = progress.needsFrom
        state = Mutex(State(meter: meter, heard: progress.needsFrom))
        return
      }
    }
    firstFrame = .zero
    state = Mutex(State(meter: make(), heard: .zero))
  }

  /// Hears the next block.
  func hear(_ block: borrowing AudioBuffer) {
    state.withLock {
      $0.meter.analyse(block)
      $0.heard += block.frameCount
    }
  }

  /// How far it is.
  var progress: ListenerProgress {
    let (snapshot, heard) = state.withLock { ($0.meter.snapshot, $0.heard) }
    return ListenerProgress(
      needsFrom: heard, state: Data(snapshot.bytes).base64EncodedString())
  }

  /// What it found; asked once, at the end.
  func finding() -> Meter.Finding { state.withLock { $0.meter.finding() } }
}

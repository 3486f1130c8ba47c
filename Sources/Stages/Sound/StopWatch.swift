import PipelineEngine
import PipelineModel
import Threading

/// Asks many times a second whether a pass has to stop, on a thread of its own, so that nobody who
/// waits for an encoder or a disk has to.
final class StopWatch: Sendable {
  /// Between two looks: far less than a person notices.
  private static let interval = Duration.milliseconds(20)

  private let pause = Pause()
  private let thread: BackgroundThread

  /// Begins to watch; what `check` throws becomes the pass's fault.
  init(
    check: @escaping @Sendable () throws(StageError) -> Void, fault: PassFault, step: StepID
  ) {
    let pause = pause
    thread = BackgroundThread(name: "stop-watch") {
      while pause.wait(Self.interval) {
        do throws(StageError) { try check() } catch {
          fault.note(PassFailure(step, error))
          return
        }
      }
    }
  }

  /// Ends the thread.
  func end() {
    pause.end()
    thread.join()
  }
}

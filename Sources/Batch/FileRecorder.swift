import PipelineEngine
import Synchronization

/// Turns the events of one file's run into the batch's.
final class FileRecorder: RunRecorder {
  /// The smallest step of progress that is told.
  private static let stride = 0.02

  private let path: String
  private let recorder: any BatchRecorder
  private let state: Mutex<(progress: FileProgress, told: Double)>

  init(_ path: String, _ progress: FileProgress, _ recorder: any BatchRecorder) {
    self.path = path
    self.recorder = recorder
    state = Mutex((progress, 0))
  }

  func record(_ event: RunEvent) {
    if let (step, text) = event.concern {
      recorder.record(.warning(path: path, step: step, text: text))
    }
    let news = state.withLock { state -> Double? in
      state.progress.take(event)
      let fraction = state.progress.fraction
      guard fraction - state.told >= Self.stride else { return nil }
      state.told = fraction
      return fraction
    }
    if let news { recorder.record(.progress(path: path, fraction: news)) }
  }
}

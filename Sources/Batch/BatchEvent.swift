public import PipelineModel

/// What happens in a batch, as it happens.
public enum BatchEvent: Sendable {
  /// Before anything else, all recordings are heard for a step that treats them as one; so many
  /// were heard in this round, counted from 1.
  case listening(step: StepID, round: Int, done: Int, of: Int)
  /// What the step has settled on: parameters as a pipeline writes them, `3.118 dB`; none where each
  /// recording stands for itself.
  case settled(step: StepID, [String: String])
  /// Everything was looked at, and the work begins.
  case planned(BatchForecast)
  /// A file is begun, which is likely to take this share of the whole batch, from 0 to 1.
  case started(path: String, share: Double)
  /// A file is so far, from 0 to 1.
  case progress(path: String, fraction: Double)
  /// Something that does not end a file's work.
  case warning(path: String, step: StepID, text: String)
  /// A file is done, or has failed.
  case finished(BatchFileResult)
  /// The batch is over.
  case ended(BatchSummary)
}

/// Takes note of events. Called from several threads.
public protocol BatchRecorder: Sendable {
  /// Takes note of an event.
  func record(_ event: BatchEvent)
}

public import PipelineModel

/// What happens in a batch, as it happens.
public enum BatchEvent: Sendable {
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

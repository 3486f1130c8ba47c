public import PipelineModel

/// What a batch came to.
public struct BatchSummary: Hashable, Sendable {
  /// Files that were done in this batch.
  public internal(set) var doneCount = 0
  /// Files that were done before.
  public internal(set) var reusedCount = 0
  /// Files that were not begun, or not ended, when the batch was stopped.
  public internal(set) var interruptedCount = 0
  /// Why the batch paused before its end: a disk is full; nil where it did not.
  public internal(set) var pause: StageError?
  /// Files that failed, in the order of their paths.
  public internal(set) var failed: [BatchFileResult] = []
  /// Seconds of sound in the files that were done in this batch.
  public internal(set) var mediaSeconds = 0.0
  /// Wall time in seconds.
  public internal(set) var seconds = 0.0
  /// The path of `batch.json`; nil where it could not be written.
  public internal(set) var reportPath: String?
  /// Why `batch.json` could not be written.
  public internal(set) var reportTrouble: String?

  /// What else is in the folder, and was left out.
  public internal(set) var skipped = SkippedFiles()
  /// Files whose exports are called otherwise than wanted, for other files' exports have their names.
  public internal(set) var renamedCount = 0

  /// Counts what became of each file.
  init(_ results: [BatchFileResult], seconds: Double) {
    self.seconds = seconds
    pause = results.lazy.compactMap(\.pause).first
    for result in results {
      switch result.outcome {
      case .done:
        doneCount += 1
        mediaSeconds += result.mediaSeconds ?? 0
      case .reused: reusedCount += 1
      case .failed: failed.append(result)
      case .interrupted: interruptedCount += 1
      case .leftOut: break
      }
    }
  }
}

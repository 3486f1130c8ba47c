import Glibc
import PipelineModel

/// A recording that is not any more where an unfinished run has read it: it was renamed, moved or
/// deleted.
struct MissingRecording {
  private let run: RunRecord
  private let name: String
  private let path: String
  private let reason: String

  /// Looks whether a run's recordings are where they were; nil if they are. The first that is not counts.
  init?(of run: RunRecord) {
    for (name, path) in run.inputs.sorted(by: { $0.key < $1.key }) {
      guard unsafe access(path, F_OK) != 0 else { continue }
      self.run = run
      self.name = name
      self.path = path
      reason = unsafe String(cString: strerror(errno))
      return
    }
    return nil
  }

  /// What gives the run up.
  private var dropping: String { "spool gc --drop \(run.id) gives the run up" }

  /// One line for a list of runs.
  var advice: String {
    "the \(name) of run \(run.id) is gone from \(path): put it back, and spool resume \(run.id) "
      + "goes on; \(dropping)"
  }

  /// Why the run cannot be gone on with, and what can be done.
  /// - Parameter others: all runs, newest first; one of them may have read the same recording under
  ///   another name.
  func error(beside others: [RunRecord]) -> StageError {
    let message = "the \(name) of run \(run.id) is gone: \(path)"
    let twin = others.first { other in
      other.id != run.id && other.pipeline == run.pipeline && other.startedAt > run.startedAt
        && other.state == .done && run.recordings?[name] != nil
        && other.recordings?[name] == run.recordings?[name]
    }
    guard let twin, let place = twin.inputs[name] else {
      return StageError(
        message, reason: reason,
        advice:
          "put it back there; or run the pipeline on it where it is now, which reuses what is "
          + "done; \(dropping)", cause: .environment)
    }
    return StageError(
      message, reason: "\(reason); run \(twin.id) has done the same recording as \(place)",
      advice: dropping, cause: .environment)
  }
}

import Glibc
import PipelineModel

/// A recording that is not any more where an unfinished run has read it: it was renamed, moved or
/// deleted. Whatever command meets it says so, and what works, in the same words.
struct MissingRecording {
  /// What is wrong.
  let message: String
  /// The system's words for it.
  private let reason: String
  /// That the same recording was done under another name; nil where it was not.
  private let twin: String?
  /// What works.
  let advice: String

  /// Looks whether a run's recordings are where they were; nil if they are. The first that is not counts.
  /// - Parameters:
  ///   - others: all runs, newest first; one of them may have read the same recording under another
  ///     name.
  ///   - store: `--store` as it was typed, which what is to be typed next needs as well.
  init?(of run: RunRecord, beside others: [RunRecord], store: String?) {
    for (name, path) in run.inputs.sorted(by: { $0.key < $1.key }) {
      guard unsafe access(path, F_OK) != 0 else { continue }
      message = "the \(name) of run \(run.id) is gone: \(path)"
      reason = unsafe String(cString: strerror(errno))
      twin = Self.twin(of: run, name, in: others)
      let place = store.map { " " + ShellWords.line(["--store", $0]) } ?? ""
      let dropping = "spool gc --drop \(run.id)\(place) gives the run up"
      advice =
        twin == nil
        ? "put it back there, and spool resume \(run.id)\(place) goes on; or run the pipeline on it "
          + "where it is now, which reuses what is done; \(dropping)"
        : dropping
      return
    }
    return nil
  }

  private static func twin(
    of run: RunRecord, _ name: String, in others: [RunRecord]
  ) -> String? {
    // The one that was recorded last comes first: those before the run itself are later.
    let twin = others.prefix { $0.id != run.id }.first { other in
      other.pipeline == run.pipeline
        && other.state == .done && run.recordings?[name] != nil
        && other.recordings?[name] == run.recordings?[name]
    }
    return twin.flatMap { twin in
      twin.inputs[name].map { "run \(twin.id) has done the same recording as \($0)" }
    }
  }

  /// The whole story in one line.
  var line: String {
    ([message] + (twin.map { [$0] } ?? [])).joined(separator: "; ") + ": \(advice)"
  }

  /// Why the run cannot be gone on with, and what can be done.
  var error: StageError {
    StageError(
      message, reason: ([reason] + (twin.map { [$0] } ?? [])).joined(separator: "; "),
      advice: advice, cause: .environment)
  }
}

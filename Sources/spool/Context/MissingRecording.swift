import Intake
import PipelineModel
import Platform
import Store

/// The error for an unfinished run whose recording was renamed, moved or deleted, or is another one by
/// now.
struct MissingRecording {
  let message: String
  /// The system's error text.
  private let reason: String
  /// The run that processed the same recording under another name; nil if there is none.
  private let twin: String?
  /// Whether another one lies in its place: resuming may succeed with that.
  private var isReplaced = false
  let advice: String

  /// Finds a run's first missing recording; nil if all exist. Reads a file that has changed since it was
  /// read last.
  /// - Parameter option: `--store` as typed, for suggested commands.
  init?(of run: RunRecord, in store: DiskStore, option: String?) {
    for (name, file) in store.files(of: run).sorted(by: { $0.key < $1.key }) {
      guard let error = FilePath.obstacle(to: file.path) else {
        guard run.state != .running, let own = run.recordings?[name],
          (try? store.holdsOther(file.path, than: own)) == true
        else { continue }
        isReplaced = true
        (message, twin) = ("the \(name) of run \(run.id) is another one by now: \(file.name)", nil)
        reason = "what was made of the one before is not used"
        let options = option.map { ["\(option: .store)", $0] } ?? []
        let resuming = ["spool", "resume", run.id.name] + options
        advice =
          ShellWords.line(resuming)
          + " begins anew with it, and with \(option: .replace) also where "
          + "the one before was exported already; "
          + ShellWords.line(["spool", "runs", "forget", run.id.name] + options)
          + " gives the run up"
        return
      }
      let isOfInbox = store.isOfInbox(run)
      message =
        isOfInbox
        ? "run \(run.id) is one of a watch" : "the \(name) of run \(run.id) is gone: \(file.name)"
      reason = isOfInbox ? "its recording is one that an inbox took in" : error.words
      twin =
        isOfInbox
        ? nil : Self.twin(of: run, name, in: (try? store.runs.newest(limit: .max)) ?? [])
      let place = option.map { " " + ShellWords.line(["--store", $0]) } ?? ""
      let dropping = "spool runs forget \(run.id)\(place) gives the run up"
      // The path of an inbox's recording is the store's own, and nothing can be put there.
      if isOfInbox {
        let command = (try? store.inboxRecording(of: run))?.nextCommands.first
        advice = command.map { "\(StoreOption(option).completing($0)) goes on with it" } ?? dropping
        return
      }
      advice =
        twin == nil
        ? "put it back there, and spool resume \(run.id)\(place) goes on; or run the pipeline on it "
          + "where it is now, which reuses what is done; \(dropping)"
        : dropping
      return
    }
    return nil
  }

  private static func twin(of run: RunRecord, _ name: String, in others: [RunRecord]) -> String? {
    // Only runs newer than this one can have continued its work.
    let twin = others.prefix { $0.id != run.id }.first { other in
      other.pipeline == run.pipeline
        && other.state == .done && run.recordings?[name] != nil
        && other.recordings?[name] == run.recordings?[name]
    }
    return twin.flatMap { twin in
      twin.inputs[name].map { "run \(twin.id) has done the same recording as \($0)" }
    }
  }

  var line: String {
    ([message] + (twin.map { [$0] } ?? [])).joined(separator: "; ") + ": \(advice)"
  }

  /// The complete error with advice; nil where resuming may succeed.
  var obstacle: SpoolError? {
    if isReplaced { return nil }
    return SpoolError(
      message, reason: ([reason] + (twin.map { [$0] } ?? [])).joined(separator: "; "),
      advice: advice, cause: .environment)
  }
}

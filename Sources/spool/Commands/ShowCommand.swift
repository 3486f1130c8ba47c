import PipelineEngine
import PipelineModel
import Platform
import Store

extension Command {
  /// `spool runs show`: one run in full.
  static let show = Command(
    name: "runs show", group: "Work",
    summary: "Show one run: what became of each step, the levels, the words, the files.",
    positionals: [Options.runOrRecording], options: [Options.store, Options.json],
    examples: [Example("The newest run", "spool runs show last")],
    perform: CommandContext.showRun)
}

extension Options {
  /// A run by each of its names, or by its recording.
  static let runOrRecording = Positional<String>.required(
    "RUN",
    help:
      "The run's name, or its beginning; last for the newest that began; or of the last run of a "
      + "recording its file, name, ID or noteId.",
    completion: NameKind.runs.hint())
}

extension StepRecord {
  /// The time of the work inside it, as text; empty if unknown.
  var time: String { workSeconds.map(Format.duration) ?? "" }
}

extension CommandContext {
  fileprivate func showRun() throws(SpoolError) -> ExitCode {
    let store = try existingStore()
    let run = try lastRun(named: arguments[Options.runOrRecording], in: store)
    let recording = try store.inboxRecording(of: run)
    guard !isJSON else {
      console.print(json: run.line(withText: true, of: recording))
      return .done
    }
    let missing = MissingRecording(of: run, in: store, option: namedStore)?.line
    let isOpen = try !store.runs.isResolved(run)
    let wayOn = isOpen ? run.wayOn.map { missing ?? "\($0) goes on" } : nil
    console.print(console.completed(text(run, of: recording, wayOn: wayOn)))
    return .done
  }

  /// - Parameters:
  ///   - recording: the one that an inbox took in; nil for others.
  ///   - wayOn: the command that continues it; nil if none does.
  private func text(_ run: RunRecord, of recording: Recording?, wayOn: String?) -> String {
    var lines = [
      "run        \(run.id)",
      "pipeline   \(run.pipeline)  (\(run.pipelinePath))",
    ]
    for (name, path) in run.orderedInputs {
      lines.append("input      \(name) = \(path)")
    }
    if let recording {
      lines.append("recording  \(recording.key), \(recording.fileName), which an inbox took in")
    }
    for (name, value) in run.overrides.sorted(by: { $0.key < $1.key }) {
      // Each line of a value is one.
      let value = value.split(separator: "\n", omittingEmptySubsequences: false)
        .joined(separator: " ⏎ ")
      lines.append("set        \(name) = \(value)")
    }
    lines.append("began      \(Format.time(run.startedAt))")
    if let earlier = run.resumes { lines.append("resumes    \(earlier)") }
    lines.append("state      \(run.status)" + (wayOn.map { "; \($0)" } ?? ""))
    if let failure = run.failure { lines.append("failure    \(failure)") }
    if let advice = run.failureAdvice { lines.append("advice     \(advice)") }
    lines.append("")
    let width = (run.steps.map(\.id.name.count).max() ?? 0) + 2
    for step in run.steps {
      let kind = step.kind == step.id.name ? "" : step.kind
      let key = step.key.map(\.digest.short) ?? ""
      lines.append(
        Format.trimmed(
          "\(Format.pad(step.id.name, width))\(Format.pad(step.outcomeWord, 10))"
            + "\(Format.pad(key, 14))\(Format.padLeft(step.time, 12))  \(kind)"))
    }
    return Format.visible(lines: lines + RunSummary(run).fullLines)
  }
}

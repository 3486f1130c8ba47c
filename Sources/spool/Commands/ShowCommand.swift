import PipelineEngine
import PipelineModel
import Platform
import Store

/// `spool show`: one run in full.
struct ShowCommand: Command {
  private static let run = Positional<String>.required(
    "RUN", help: "The run's name, or its beginning; last for the newest.")

  static let declaration = CommandDeclaration(
    name: "show", group: "History",
    summary: "Show one run: what became of each step, the levels, the words, the files.",
    positionals: [run], options: [Options.store, Options.json],
    examples: [Example("The newest run", "spool show last")])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    do throws(CommandContext.Refusal) {
      let context = CommandContext(console: console)
      let readable = try context.existingStore(at: arguments[Options.store])
      defer { withExtendedLifetime(readable) {} }
      let run = try context.run(named: arguments[Self.run], in: readable.store)
      if arguments[Options.json] {
        console.print(JSONText.of(RunLine(run)))
      } else {
        console.print(text(run, wayOn: try wayOn(run, context, readable.store)))
      }
      return .done
    } catch {
      console.report(error.text)
      return error.code
    }
  }

  /// The command that continues the run, or an alternative; nil if it is done or still running.
  private func wayOn(
    _ run: RunRecord, _ context: CommandContext, _ store: DiskStore
  ) throws(CommandContext.Refusal) -> String? {
    guard let wayOn = run.wayOn else { return nil }
    let missing = MissingRecording(
      of: run, beside: try context.runs(limit: .max, in: store), store: arguments[Options.store])
    return missing?.line ?? "\(wayOn) goes on"
  }

  private func text(_ run: RunRecord, wayOn: String?) -> String {
    var lines = [
      "run        \(run.id)",
      "pipeline   \(run.pipeline)  (\(run.pipelinePath))",
    ]
    for (name, path) in run.inputs.sorted(by: { $0.key < $1.key }) {
      lines.append("input      \(name) = \(path)")
    }
    for (name, value) in run.overrides.sorted(by: { $0.key < $1.key }) {
      lines.append("set        \(name) = \(value)")
    }
    lines.append("began      \(Format.time(run.startedAt))")
    if let earlier = run.resumes { lines.append("resumes    \(earlier)") }
    lines.append("state      \(run.status)" + (wayOn.map { "; \($0)" } ?? ""))
    if let failure = run.failure { lines.append("failure    \(failure)") }
    lines.append("")
    let width = (run.steps.map(\.id.name.count).max() ?? 0) + 2
    for step in run.steps {
      let kind = step.kind == step.id.name ? "" : step.kind
      let key = step.key.map(\.digest.short) ?? ""
      lines.append(
        "\(Format.pad(step.id.name, width))\(Format.pad(step.outcome.rawValue, 10))"
          + "\(Format.pad(key, 14))\(kind)")
    }
    return Format.visible(lines: lines + RunSummary(run).fullLines)
  }
}

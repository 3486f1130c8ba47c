import PipelineEngine
import PipelineModel
import Platform
import Receipts
import Stages
import Store

/// `spool why`: explains why each stage of a run was executed or reused.
struct WhyCommand: Command {
  private static let run = Positional<String>.required(
    "RUN", help: "The run's name, or its beginning; last for the newest.")
  private static let stage = Positional<String?>.optional(
    "STAGE", help: "One stage of it, by its id, in full.")

  static let declaration = CommandDeclaration(
    name: "why", group: "History",
    summary: "Say why each stage of a run was made or reused.",
    discussion: """
      A stage that was reused names the run that made it. One that was made names what is not as it \
      was in the nearest earlier run of the same pipeline, of the same recording if there is one: a \
      parameter, an input, the stage's revision, a library's version. One that an earlier run had \
      left unfinished says where in the recording it went on, or why it began anew.
      """,
    positionals: [run, stage], options: [Options.store, Options.plugins, Options.json],
    examples: [
      Example("The newest run", "spool why last"),
      Example("Why the compressor worked again", "spool why last compress"),
    ])

  let arguments: ParsedArguments

  func run(console: Console) throws(SpoolError) -> ExitCode {
    let context = CommandContext(console: console, plugins: arguments[Options.plugins])
    let store = try context.existing(at: arguments[Options.store])
    let run = try context.run(named: arguments[Self.run], in: store)
    let catalog = context.remembering(run).catalog(beside: run.pipelinePath)
    let explanation = RunExplanation(
      run, history: try store.runs.newest(limit: .max), store: store, catalog: catalog)
    let definitions = ParsedPipeline(run.request?.pipelineText ?? "", knownKinds: catalog.kinds)
      .definition?.steps
    let rows = try steps(of: run).map { (step) throws(SpoolError) -> Row in
      let reason = ReasonText(
        try explanation.reason(of: step), resumption: explanation.resumption(of: step),
        loss: step.loss, files: Self.files(of: step, in: definitions ?? []))
      return (step, reason)
    }
    if arguments[Options.json] {
      console.print(json(run, rows).canonicalJSON)
    } else if arguments[Self.stage] == nil {
      console.print(table(run, rows))
    } else {
      for (step, reason) in rows { console.print(detail(step, reason, catalog, store)) }
    }
    return .done
  }

  private typealias Row = (step: StepRecord, reason: ReasonText)

  private func steps(of run: RunRecord) throws(SpoolError) -> [StepRecord] {
    guard let name = arguments[Self.stage] else { return run.steps }
    let found = run.steps.filter { $0.id.name == name }
    guard found.isEmpty else { return found }
    let names = run.steps.map(\.id.name)
    let guess = Problem.nearest(to: name, in: names).map { "; did you mean \($0)?" } ?? ""
    throw .usage(
      "the run \(run.id) has no stage \"\(name)\"\(guess)",
      advice: "it has \(names.joined(separator: ", "))")
  }

  private func table(_ run: RunRecord, _ rows: [Row]) -> String {
    let width = (rows.map(\.step.id.name.count).max() ?? 0) + 2
    var lines = ["\(run.pipeline)  run \(run.id), \(run.status)", ""]
    var compared: [String] = []
    for (step, reason) in rows {
      lines.append(
        "  \(Format.pad(step.id.name, width))\(Format.pad(step.outcome.rawValue, 10))"
          + Format.visible(reason.phrases.joined(separator: "; ")))
      if step.outcome == .made, let run = reason.run?.name, !compared.contains(run) {
        compared.append(run)
      }
    }
    if !compared.isEmpty {
      lines += ["", "compared with run \(compared.joined(separator: ", "))"]
    }
    return lines.joined(separator: "\n")
  }

  /// One stage: a line for each cause, and its inputs.
  private func detail(
    _ step: StepRecord, _ reason: ReasonText, _ catalog: StageCatalog, _ store: DiskStore
  ) -> String {
    var lines = ["stage      \(step.id) (\(step.kind))", "outcome    \(step.outcome.rawValue)"]
    for phrase in reason.phrases { lines.append("because    \(Format.visible(phrase))") }
    if step.outcome == .made, let run = reason.run { lines.append("compared   with run \(run)") }
    guard let key = step.key else { return lines.joined(separator: "\n") }
    lines.append("key        \(key.digest.short)")
    guard let components = (try? store.checkpoint(for: key))?.components else {
      return lines.joined(separator: "\n")
    }
    lines.append("revision   \(components.revision)")
    for (port, digest) in components.inputs.sorted(by: { $0.key < $1.key }) {
      lines.append("input      \(port) \(digest.short)")
    }
    for (library, version) in components.libraries.sorted(by: { $0.key < $1.key }) {
      let path = reason.files[library].map { " (\($0))" } ?? ""
      lines.append(Format.visible("library    \(library)\(path) \(version)"))
    }
    if case .group(let values)? = Value(json: components.parameters) {
      for parameter in catalog[components.kind]?.descriptor.parameters ?? [] {
        guard let value = values[parameter.name], value != .null else { continue }
        lines.append("parameter  \(parameter.name): \(parameter.type.text(of: value))")
      }
    }
    return lines.joined(separator: "\n")
  }

  private func json(_ run: RunRecord, _ rows: [Row]) -> Value {
    .group([
      "run": .text(run.id.name), "pipeline": .text(run.pipeline),
      "state": .text(run.state.rawValue),
      "stages": .list(
        rows.map { row in
          .group(
            row.reason.members.merging([
              "stage": .text(row.step.id.name), "kind": .text(row.step.kind),
              "outcome": .text(row.step.outcome.rawValue),
            ]) { $1 })
        }),
    ])
  }
}

/// The paths of files in the parameters of a run's steps, which keys identify by content only.
extension WhyCommand {
  /// Paths by the names that keys use: `file script`. O(steps).
  private static func files(
    of step: StepRecord, in definitions: [StepDefinition]
  ) -> [String: String] {
    guard case .mapping(let entries)? = definition(of: step, in: definitions)?.parameters.content
    else { return [:] }
    var paths: [String: String] = [:]
    for entry in entries {
      switch entry.value.content {
      case .scalar(let text, _): paths["file \(entry.key)"] = text
      case .mapping(let files) where entry.key == "files":
        for file in files {
          if case .scalar(let text, _) = file.value.content { paths["file \(file.key)"] = text }
        }
      default: break
      }
    }
    return paths
  }

  /// The step of this name, or the nth unnamed one of its kind: `command-2`.
  private static func definition(
    of step: StepRecord, in steps: [StepDefinition]
  ) -> StepDefinition? {
    if let named = steps.first(where: { $0.id?.value == step.id.name }) { return named }
    let alike = steps.filter { $0.id == nil && $0.kind.value == step.kind }
    let number = step.id.name.split(separator: "-").last.flatMap { Int($0) } ?? 1
    return alike.indices.contains(number - 1) ? alike[number - 1] : alike.first
  }
}

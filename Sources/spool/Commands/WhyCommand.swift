import PipelineEngine
import PipelineModel
import Platform
import Receipts
import Stages
import Store

extension Command {
  /// `spool why`: explains why each stage of a run was executed or reused.
  static let why = Command(
    name: "why", group: "Work",
    summary: "Say why each stage of a run was made or reused.",
    discussion: """
      A stage that was reused names the run that made it. One that was made names what is not as it \
      was in the nearest earlier run of the same pipeline, the one with the most equal inputs and then \
      the latest: a parameter, an input, the stage's revision, a library's version. One that an \
      earlier run had left unfinished says where in the recording it went on, or why it began anew.
      """,
    positionals: [Options.runOrRecording, Options.stage],
    options: [Options.store, Options.plugins, Options.json],
    examples: [
      Example("The newest run", "spool why last"),
      Example("Why the compressor worked again", "spool why last compress"),
    ],
    perform: CommandContext.explainRun)
}

extension Options {
  fileprivate static let stage = Positional<String?>.optional(
    "STAGE", help: "One stage of it, by its id, in full.", completion: NameKind.runStages.hint())
}

extension CommandContext {
  fileprivate func explainRun() throws(SpoolError) -> ExitCode {
    let store = try existingStore()
    let run = try lastRun(named: arguments[Options.runOrRecording], in: store)
    let catalog = remembering(run).catalog(beside: run.pipelinePath)
    let explanation = RunExplanation(
      run, history: try store.runs.newest(limit: .max), store: store, catalog: catalog)
    let definitions = ParsedPipeline(run.request?.pipelineText ?? "", knownKinds: catalog.kinds)
      .definition?.steps
    let rows = try steps(of: run).map { (step) throws(SpoolError) -> Row in
      let reason = ReasonText(
        try explanation.reason(of: step), resumption: explanation.resumption(of: step),
        loss: step.loss, rewriting: explanation.rewriting(of: step),
        files: Self.files(of: step, in: definitions ?? []),
        shownName: { (try? store.shownName(of: $0.path, $0.digest, in: run)) ?? $0.path })
      return (step, reason)
    }
    if isJSON {
      console.print(json(run, rows).canonicalJSON)
    } else if arguments[Options.stage] == nil {
      console.print(table(run, rows))
    } else {
      for (step, reason) in rows { console.print(detail(step, reason, catalog, store)) }
    }
    return .done
  }

  private typealias Row = (step: StepRecord, reason: ReasonText)

  private func steps(of run: RunRecord) throws(SpoolError) -> [StepRecord] {
    guard let name = arguments[Options.stage] else { return run.steps }
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
        "  \(Format.pad(step.id.name, width))\(Format.pad(step.outcomeWord, 10))"
          + "\(Format.padLeft(step.time, 12))  "
          + Format.visible(reason.phrases.joined(separator: "; ")))
      if step.outcome == .made, let run = reason.run?.name, !compared.contains(run) {
        compared.append(run)
      }
    }
    if !compared.isEmpty { lines += ["", "compared with run \(compared.joined(separator: ", "))"] }
    return lines.joined(separator: "\n")
  }

  /// One stage: a line for each cause, and its inputs.
  private func detail(
    _ step: StepRecord, _ reason: ReasonText, _ catalog: StageCatalog, _ store: DiskStore
  ) -> String {
    var lines = ["stage      \(step.id) (\(step.kind))", "outcome    \(step.outcomeWord)"]
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
              "workSeconds": row.step.workSeconds.map { .number($0) } ?? .null,
            ]) { $1 })
        }),
    ])
  }
}

/// The paths of files in the parameters of a run's steps, which keys identify by content only.
extension CommandContext {
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

/// Why a step was executed or reused, as text and as JSON.
struct ReasonText {
  private let reason: RunExplanation.Reason
  private let resumption: (seconds: Double, of: RunID?)?
  private let loss: ResumeLoss?
  private let rewriting: [RunExplanation.Rewriting]
  /// Paths of files that the step names, by the names that its key uses.
  let files: [String: String]
  private let shownName: (RecordingIdentity) -> String

  /// - Parameters:
  ///   - resumption: where the step resumed an earlier run's work.
  ///   - loss: why that run's work was not reused.
  ///   - rewriting: why files of it were written again though it was reused.
  ///   - shownName: what a recording is called: the file of one of an inbox lay in the store.
  init(
    _ reason: RunExplanation.Reason, resumption: (seconds: Double, of: RunID?)? = nil,
    loss: ResumeLoss? = nil, rewriting: [RunExplanation.Rewriting] = [],
    files: [String: String] = [:], shownName: @escaping (RecordingIdentity) -> String
  ) {
    self.files = files
    self.shownName = shownName
    self.reason = reason
    self.resumption = resumption
    self.loss = loss
    self.rewriting = rewriting
  }

  /// The causes in a few words each, and where the step resumed.
  var phrases: [String] {
    // Being first is irrelevant if another run had started the step.
    if case .firstTime = reason, loss?.cause == .takenOver { return setbackPhrase }
    return causes + rewritingPhrase + resumptionPhrase + setbackPhrase
  }

  private var rewritingPhrase: [String] {
    guard !rewriting.isEmpty else { return [] }
    let causes = rewriting.map { cause in
      switch cause {
      case .newPlace: "they were not there yet"
      case .chapters: "the sidecar has other chapters"
      case .title: "the sidecar has another title"
      case .recording: "the recording's file has changed, though not its sound"
      case .text: "those that were there were of another text"
      case .pipeline: "the pipeline or its values have changed"
      case .unrecorded:
        "a cover or another file in the pipeline has changed, or they had themselves"
      }
    }
    return ["its files were written again: \(causes.joined(separator: ", and "))"]
  }

  private var setbackPhrase: [String] {
    guard let loss else { return [] }
    let run = loss.run.map { "run \($0)" } ?? "another run"
    switch loss.cause {
    case .notesLost: return ["began anew: \(run) had noted nothing yet, or no notes are left"]
    case .damaged:
      let parts = [loss.part ?? "earlier work"] + (loss.furtherParts ?? [])
      let verb = parts.count > 1 ? "were" : "was"
      return ["\(parts.joined(separator: " and ")) \(verb) damaged, and made again"]
    case .recordingChanged:
      // The comparison already states it.
      if case .changed = reason { return [] }
      return ["began anew: \(loss.part ?? "the recording") had changed since \(run)"]
    case .pluginChanged:
      return ["began anew what \(run) had begun: \(loss.part ?? "a plugin had changed")"]
    case .takenOver:
      let process = loss.processNumber.map { " (process \($0))" } ?? ""
      return [
        "taken over from \(run)\(process), which was stopped, at "
          + "\(Format.time(loss.at)), and begun anew"
      ]
    }
  }

  private var resumptionPhrase: [String] {
    guard let (seconds, run) = resumption else { return [] }
    let whose = run.map { "what run \($0) had left" } ?? "what an earlier run had left"
    return ["went on with \(whose), at \(Format.position(seconds)) of the recording"]
  }

  private var causes: [String] {
    switch reason {
    case .reused(let run): ["from run \(run)"]
    case .reusedOfLostRecord(let run?):
      ["most likely from run \(run): what that noted last was lost"]
    case .reusedOfLostRecord(nil):
      [
        "from an earlier run, whose record was lost, or from what a batch heard of all files first; spool "
          + "store check tells whether anything is missing"
      ]
    case .sameWork(let step): ["\(step) did the same work in this run"]
    case .firstTime(isFirstRun: true): ["first run of this pipeline"]
    case .firstTime(isFirstRun: false): ["first time in this pipeline"]
    case .changed(let changes, _): changes.map(phrase)
    case .madeAgain(let run): ["what run \(run) had made was no longer in the store"]
    case .written: ["no receipt that says the same was there"]
    case .forgotten: ["what it was made of is no longer in the store"]
    case .incomparable(let run):
      ["other work than in run \(run), of which the store does not hold what it was made of"]
    case .begun(let state): [Self.cut(by: state)]
    case .failed(let reason): [reason ?? "the run does not say why"]
    case .unpublished(let reason):
      ["done and kept, but its files did not get out" + (reason.map { ": \($0)" } ?? "")]
    case .notDone(.skipped): ["its condition did not hold"]
    case .notDone: ["not reached"]
    }
  }

  /// How an unfinished step ended.
  private static func cut(by state: RunRecord.State) -> String {
    switch state {
    case .running: "being worked on"
    case .cutOff, .dropped: "being worked on when the run was cut off"
    case .interrupted: "being worked on when the run was stopped"
    case .paused: "being worked on when the disk was full"
    case .done, .failed, .refused: "being worked on when the run ended"
    }
  }

  /// The run that was reused or compared with.
  var run: RunID? {
    switch reason {
    case .reused(let run): run
    case .reusedOfLostRecord(let run): run
    case .changed(_, let run), .madeAgain(let run): run
    default: nil
    }
  }

  private func phrase(_ change: RunExplanation.Change) -> String {
    switch change {
    case .upstream(_, let step, let old, let new):
      "\(step) above it gave \(new.short)… instead of \(old.short)…"
    case .source(let port, let old, let new):
      "takes its \(port) from \(new?.name ?? "a file"), no longer from \(old?.name ?? "a file")"
    case .recording(_, let old, let new):
      old.path == new.path
        ? "\(shownName(new)) has changed: \(old.digest.short)… → \(new.digest.short)…"
        : "another recording: \(shownName(old)) (\(old.digest.short)…) → "
          + "\(shownName(new)) (\(new.digest.short)…)"
    case .key(let change): phrase(change)
    }
  }

  private func phrase(_ change: KeyChange) -> String {
    switch change {
    case .kind(let old, let new): "stage kind: \(old) → \(new)"
    case .revision(let old, let new): "revision of the stage: \(old) → \(new)"
    case .parameter(PortName.corrected.name, _, _): "the corrections of its words have changed"
    case .parameter(let name, let old?, let new?): "\(name): \(old) → \(new)"
    case .parameter(let name, nil, let new): "\(name): \(new ?? "") added"
    case .parameter(let name, let old, nil): "\(name): \(old ?? "") removed"
    case .input(let port, let old, let new):
      "\(port): \(old?.short ?? "none") → \(new?.short ?? "none")"
    case .library(let name, let old, let new):
      "\(name)\(path(of: name)): \(old ?? "none") → \(new ?? "none")"
    }
  }

  private func path(of name: String) -> String { files[name].map { " (\($0))" } ?? "" }

  private var word: String {
    switch reason {
    case .reused, .reusedOfLostRecord: "reused"
    case .sameWork: "same-work"
    case .firstTime(let isFirstRun): isFirstRun ? "first-run" : "first-time"
    case .changed: "changed"
    case .madeAgain: "made-again"
    case .written: "written"
    case .forgotten: "forgotten"
    case .incomparable: "incomparable"
    case .begun: "begun"
    case .failed: "failed"
    case .unpublished: "unpublished"
    case .notDone: "not-done"
    }
  }

  var members: [String: Value] {
    var members: [String: Value] = [
      "reason": .text(word), "text": .text(phrases.joined(separator: "; ")),
    ]
    if let run { members["run"] = .text(run.name) }
    if let (seconds, earlier) = resumption {
      members["resumedAtSeconds"] = .number(seconds)
      members["resumedFrom"] = earlier.map { .text($0.name) } ?? .null
    }
    if let loss {
      members["setback"] = .text(loss.cause.rawValue)
      members["setbackAt"] = .text(DateTime.text(of: loss.at))
      members["setbackRun"] = loss.run.map { .text($0.name) } ?? .null
      members["setbackPart"] = loss.part.map { .text($0) } ?? .null
      if let parts = loss.furtherParts {
        members["setbackFurtherParts"] = .list(parts.map { .text($0) })
      }
    }
    if case .changed(let changes, _) = reason {
      members["changes"] = .list(changes.map { .group(value($0)) })
    }
    return members
  }

  private func value(_ change: RunExplanation.Change) -> [String: Value] {
    func text(_ text: String?) -> Value { text.map { .text($0) } ?? .null }
    func entry(_ what: String, _ name: String, _ old: String?, _ new: String?) -> [String: Value] {
      ["what": .text(what), "name": .text(name), "from": text(old), "to": text(new)]
    }
    return switch change {
    case .upstream(let port, let step, let old, let new):
      entry("step", port.name, old.hex, new.hex).merging(["step": .text(step.name)]) { $1 }
    case .source(let port, let old, let new): entry("source", port.name, old?.name, new?.name)
    case .recording(let name, let old, let new):
      entry("recording", name, old.path, new.path).merging([
        "fromDigest": .text(old.digest.hex), "toDigest": .text(new.digest.hex),
      ]) { $1 }
    case .key(.kind(let old, let new)): entry("kind", "kind", old, new)
    case .key(.revision(let old, let new)): entry("revision", "revision", "\(old)", "\(new)")
    case .key(.parameter(let name, let old, let new)): entry("parameter", name, old, new)
    case .key(.input(let port, let old, let new)): entry("input", port.name, old?.hex, new?.hex)
    case .key(.library(let name, let old, let new)):
      entry("library", name, old, new).merging(files[name].map { ["path": .text($0)] } ?? [:]) {
        $1
      }
    }
  }
}

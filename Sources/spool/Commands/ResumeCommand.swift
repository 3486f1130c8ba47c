import Arguments
import Glibc
import PipelineModel
import Store

/// `spool resume`: goes on with a run that did not come to its end.
struct ResumeCommand: Command {
  private static let run = Positional<String?>.optional(
    "RUN", help: "The run's name, or its beginning; left out, the newest that is not done.")

  static let declaration = CommandDeclaration(
    name: "resume", group: "Work",
    summary: "Go on with a run that was stopped, failed or was cut off.",
    discussion: """
      The run goes on as it was told: the pipeline as it was then, although its file may have \
      changed, the same recordings, overrides and output folder. What is done is reused, and the \
      result is the same, byte for byte, as that of a run that was never stopped. It appears in \
      spool runs as a run of its own.

      The run of one file of a batch goes on alone; running the same batch again goes on with all \
      of it.
      """,
    positionals: [run],
    options: [
      Options.plugins, Options.store, Options.keys, Options.passphraseFile, Options.ignoreRoom,
      Options.json,
      Options.quiet,
    ],
    examples: [Example("Go on where Ctrl-C stopped", "spool resume")])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let bench = Workbench(console: console, plugins: arguments[Options.plugins])
    do throws(Workbench.Refusal) {
      let option = arguments[Options.store]
      try bench.requireStore(
        at: StoreLocation.resolve(option: option, environment: Environment.variables))
      let store = try bench.store(at: option)
      guard let earlier = try choose(bench, store) else {
        if !arguments[Options.json], !arguments[Options.quiet] {
          let isEmpty = try bench.runs(limit: 1, in: store).isEmpty
          console.print(
            isEmpty
              ? bench.noRuns(in: store) : "nothing to go on with: every run is done")
        }
        return .done
      }
      return try goOn(
        with: earlier,
        Workbench(
          console: console, plugins: arguments[Options.plugins], rememberedBy: earlier), store)
    } catch {
      console.report(error.text)
      return error.code
    }
  }

  /// The run that was named, or the newest that is not done; one that is still under way only if
  /// there is no other. Nil where all are done.
  private func choose(
    _ bench: Workbench, _ store: DiskStore
  ) throws(Workbench.Refusal) -> RunRecord? {
    if let name = arguments[Self.run] {
      let run = try bench.run(named: name, in: store)
      if run.state != .done { return run }
      throw refusal(
        StageError(
          "the run \(run.id) is done: there is nothing to go on with",
          advice: "spool show \(run.id) says what it gave"), bench, .usage)
    }
    let runs = try bench.runs(limit: .max, in: store)
    let open = RunRecord.unsettled(in: runs)
    return open.first { $0.state != .running } ?? open.first
  }

  private func goOn(
    with earlier: RunRecord, _ bench: Workbench, _ store: DiskStore
  ) throws(Workbench.Refusal) -> ExitCode {
    let memory = PluginMemory(bench.shelf(beside: earlier.pipelinePath))
    if let loss = memory.loss(since: earlier, resumeCommand: "spool resume \(earlier.id)") {
      throw refusal(loss, bench, .failed)
    }
    let pipeline: Workbench.Pipeline
    do throws(Workbench.Refusal) { pipeline = try self.pipeline(of: earlier, bench) } catch {
      tellOfBatch(earlier, bench)
      throw error
    }
    let plugins = memory.uses(of: pipeline.definition)
    let others = try bench.runs(limit: .max, in: store)
    if let missing = MissingRecording(
      of: earlier, beside: others, store: arguments[Options.store])
    {
      throw refusal(missing.error, bench, .failed)
    }
    let bound = try bench.plan(
      pipeline, inputs: earlier.inputs,
      overrides: earlier.overrides.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
    let plan: Plan
    do throws(StageError) { plan = try bound.settled(earlier.request?.album ?? [:]) } catch {
      throw refusal(error, bench, .failed)
    }
    let folder = try OutputFolder.prepare(
      earlier.request?.folder ?? folder(of: earlier, bench), console: bench.console)
    tellOfBatch(earlier, bench)
    warnOfChanges(since: earlier, bench, store, memory)
    let request = RunRequest(
      pipelineText: pipeline.text, folder: folder,
      isReplacing: earlier.request?.isReplacing ?? false,
      keepsEverything: earlier.request?.keepsEverything ?? false,
      names: earlier.request?.names, album: earlier.request?.album,
      pluginFolder: bench.pluginFolder)
    let launch = RunLaunch(
      plan: plan, store: store, storeOption: arguments[Options.store],
      voice: RunLaunch.Voice(arguments), keysOption: arguments[Options.keys],
      passphraseFile: arguments[Options.passphraseFile],
      ignoresRoom: arguments[Options.ignoreRoom], console: bench.console)
    return launch.start(request) { id, startedAt in
      RunRecord(
        id: id, pipeline: plan.name, pipelinePath: earlier.pipelinePath, inputs: earlier.inputs,
        overrides: earlier.overrides, startedAt: startedAt, request: request, resumes: earlier.id,
        batch: earlier.batch, plugins: plugins)
    }
  }

  /// The pipeline as it was; where the record is too old to hold it, as its file is now.
  private func pipeline(
    of earlier: RunRecord, _ bench: Workbench
  ) throws(Workbench.Refusal) -> Workbench.Pipeline {
    guard let text = earlier.request?.pipelineText else {
      return try bench.pipeline(at: earlier.pipelinePath)
    }
    return try bench.pipeline(text, from: earlier.pipelinePath)
  }

  /// Where a run whose record does not say so put its files: beside those that it published, or in
  /// the folder that is usual here.
  private func folder(of earlier: RunRecord, _ bench: Workbench) -> String {
    guard let path = earlier.published.first?.path else { return bench.absolute("exports") }
    return "/" + path.split(separator: "/").dropLast().joined(separator: "/")
  }

  /// Says that what goes on is one file of a batch, and what goes on with the rest.
  private func tellOfBatch(_ earlier: RunRecord, _ bench: Workbench) {
    guard let batch = earlier.batch, !arguments[Options.quiet] else { return }
    let file = earlier.inputs.values.sorted().joined(separator: ", ")
    bench.console.report(
      Format.visible("note: \(file) is one file of the batch \(batch.batch) of \(batch.folder)"))
    let way = batch.command ?? "running that batch again"
    bench.console.report(Format.visible("next: \(way) goes on with all of it"))
  }

  /// Says what is not as the earlier run saw it: a recording with other bytes is other work, and a
  /// pipeline whose file was edited goes on as it was.
  private func warnOfChanges(
    since earlier: RunRecord, _ bench: Workbench, _ store: DiskStore,
    _ memory: PluginMemory
  ) {
    var warnings = memory.changes(since: earlier)
    for (name, digest) in (earlier.recordings ?? [:]).sorted(by: { $0.key < $1.key }) {
      // What cannot be read is reported when the run reads it.
      guard let path = earlier.inputs[name], let now = try? store.digest(ofFile: path),
        now != digest
      else { continue }
      warnings.append("\(path) has changed since run \(earlier.id): what is there now is used")
    }
    if let text = earlier.request?.pipelineText,
      let now = try? TextFile.read(earlier.pipelinePath), now != text
    {
      warnings.append(
        "\(earlier.pipelinePath) has changed since run \(earlier.id), which goes on with the "
          + "pipeline as it was; spool run takes the new one")
    }
    for warning in warnings {
      if arguments[Options.json] { bench.console.print(JSONText.of(WarningLine(warning))) }
      bench.console.report("warning: \(Format.visible(warning))")
    }
  }

  private func refusal(
    _ error: StageError, _ bench: Workbench, _ code: ExitCode
  ) -> Workbench.Refusal {
    Workbench.Refusal(text: ErrorText(error).render(bench.console), code: code)
  }
}

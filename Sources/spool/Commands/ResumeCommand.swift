import Glibc
import PipelineModel
import Platform
import Store

/// `spool resume`: continues an unfinished run.
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

  let arguments: ParsedArguments

  func run(console: Console) throws(SpoolError) -> ExitCode {
    let context = CommandContext(console: console, plugins: arguments[Options.plugins])
    let option = arguments[Options.store]
    try context.requireStore(at: CommandContext.storePath(option))
    let store = try context.store(at: option)
    if let earlier = try choose(context, store) {
      return try goOn(with: earlier, context.remembering(earlier), store)
    }
    if !arguments[Options.json], !arguments[Options.quiet] {
      console.print(
        try store.runs.newest(limit: 1).isEmpty
          ? Format.visible(context.noRuns(in: store)) : "nothing to go on with: every run is done")
    }
    return .done
  }

  /// The named run, or the newest unfinished one; one that is still running only if there is no
  /// other. Nil if all are done.
  private func choose(
    _ context: CommandContext, _ store: DiskStore
  ) throws(SpoolError) -> RunRecord? {
    if let name = arguments[Self.run] {
      let run = try context.run(named: name, in: store)
      if run.state != .done { return run }
      throw .usage(
        "the run \(run.id) is done: there is nothing to go on with",
        advice: "spool show \(run.id) says what it gave")
    }
    let open = RunRecord.unsettled(in: try store.runs.newest(limit: .max))
    return open.first { $0.state != .running } ?? open.first
  }

  private func goOn(
    with earlier: RunRecord, _ context: CommandContext, _ store: DiskStore
  ) throws(SpoolError) -> ExitCode {
    let memory = PluginUsage(context.registry(beside: earlier.pipelinePath))
    if let loss = memory.loss(since: earlier, resumeCommand: "spool resume \(earlier.id)") {
      throw loss
    }
    let pipeline: CommandContext.Pipeline
    do throws(SpoolError) { pipeline = try self.pipeline(of: earlier, context) } catch {
      tellOfBatch(earlier, context)
      throw error
    }
    let plugins = memory.uses(of: pipeline.definition)
    if let missing = MissingRecording(
      of: earlier, beside: try store.runs.newest(limit: .max), store: arguments[Options.store])
    {
      throw missing.error
    }
    let plan = try context.plan(
      pipeline, inputs: earlier.inputs,
      overrides: earlier.overrides.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    ).settled(earlier.request?.album ?? [:])
    let folder = try OutputFolder.prepare(
      earlier.request?.folder ?? folder(of: earlier, context))
    tellOfBatch(earlier, context)
    warnOfChanges(since: earlier, context, store, memory)
    let request = RunRequest(
      pipelineText: pipeline.text, folder: folder,
      isReplacing: earlier.request?.isReplacing ?? false,
      keepsEverything: earlier.request?.keepsEverything ?? false,
      names: earlier.request?.names, album: earlier.request?.album,
      pluginFolder: context.pluginFolder)
    let launch = RunLaunch(
      plan: plan, store: store, arguments: arguments, context: context)
    return try launch.start(request) { id, startedAt in
      RunRecord(
        id: id, pipeline: plan.name, pipelinePath: earlier.pipelinePath, inputs: earlier.inputs,
        overrides: earlier.overrides, startedAt: startedAt, request: request, resumes: earlier.id,
        batch: earlier.batch, plugins: plugins)
    }
  }

  /// The pipeline as recorded; if the record predates that, the pipeline's file.
  private func pipeline(
    of earlier: RunRecord, _ context: CommandContext
  ) throws(SpoolError) -> CommandContext.Pipeline {
    guard let text = earlier.request?.pipelineText else {
      return try context.pipeline(at: earlier.pipelinePath)
    }
    return try context.pipeline(text, from: earlier.pipelinePath)
  }

  /// The output folder of a run whose record lacks it: that of its published files, or the default.
  private func folder(of earlier: RunRecord, _ context: CommandContext) -> String {
    guard let path = earlier.published.first?.path else { return context.absolute("exports") }
    return "/" + path.split(separator: "/").dropLast().joined(separator: "/")
  }

  /// Reports that the run is one file of a batch, and the command for the rest.
  private func tellOfBatch(_ earlier: RunRecord, _ context: CommandContext) {
    guard let batch = earlier.batch, !arguments[Options.quiet] else { return }
    let file = earlier.inputs.values.sorted().joined(separator: ", ")
    context.console.report(
      Format.visible("note: \(file) is one file of the batch \(batch.batch) of \(batch.folder)"))
    let way = batch.command ?? "running that batch again"
    context.console.report(Format.visible("next: \(way) goes on with all of it"))
  }

  /// Warns of changes since the earlier run: a recording with other bytes is processed again, and
  /// an edited pipeline is ignored.
  private func warnOfChanges(
    since earlier: RunRecord, _ context: CommandContext, _ store: DiskStore,
    _ memory: PluginUsage
  ) {
    var warnings = memory.changes(since: earlier)
    for (name, digest) in (earlier.recordings ?? [:]).sorted(by: { $0.key < $1.key }) {
      // A read error is reported when the run reads the file.
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
      if arguments[Options.json] {
        context.console.print(JSONText.of(JSONLine("warning", ["message": warning])))
      }
      context.console.report("warning: \(Format.visible(warning))")
    }
  }
}

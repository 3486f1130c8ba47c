import PipelineEngine
import PipelineModel
import Platform
import Stages

/// `spool run`: one recording through one pipeline.
struct RunCommand: Command {
  static let declaration = CommandDeclaration(
    name: "run", group: "Work",
    summary: "Run a pipeline on a recording.",
    discussion: """
      Work that was done before, with the same sound and the same parameters, is reused. Exports \
      appear in the output folder under their final names only when they are whole. Ctrl-C stops \
      at the next clean point, mostly within a third of a second and never later than two, and so \
      does closing the terminal; spool resume goes on from there. A second Ctrl-C does not wait for \
      a clean point. "done in" is the time from beginning to end; where the process was stopped or \
      the machine slept meanwhile, it says for how long.

      How much room a run needs is reckoned beforehand, and a run that would not fit is refused. \
      --ignore-room begins it nevertheless: where a disk gets full, the run pauses, keeps what is \
      done, and spool resume goes on when there is room.
      """,
    positionals: [Options.pipeline, Options.inputs],
    options: [
      Options.out, Options.set, Options.plugins, Options.store, Options.keys,
      Options.passphraseFile,
      Options.checkpoint, Options.replace,
      Options.ignoreRoom, Options.json, Options.quiet,
    ],
    examples: [
      Example("Clean one voice note", "spool run Pipelines/voice-note.yaml note.m4a"),
      Example(
        "Quieter than the pipeline says",
        "spool run Pipelines/voice-note.yaml note.m4a --set loudness='-18 LUFS'"),
    ])

  let arguments: ParsedArguments

  func run(console: Console) throws(SpoolError) -> ExitCode {
    let context = CommandContext(console: console, plugins: arguments[Options.plugins])
    let pipeline = try context.pipeline(at: arguments[Options.pipeline])
    let inputs = try context.bind(
      arguments[Options.inputs], to: pipeline, store: arguments[Options.store])
    let plan = try context.plan(pipeline, inputs: inputs, overrides: arguments[Options.set])
    let folder = try OutputFolder.prepare(
      context.absolute(arguments[Options.out] ?? "exports"))
    var options = Runner.Options(folder: folder)
    options.keepsEverything = arguments[Options.checkpoint] == .every
    let launch = RunLaunch(
      plan: plan, store: try context.store(for: plan, at: arguments[Options.store], options),
      arguments: arguments, context: context)
    let request = RunRequest(
      pipelineText: pipeline.text, folder: folder, isReplacing: arguments[Options.replace],
      keepsEverything: options.keepsEverything,
      names: context.names(of: inputs, in: pipeline), pluginFolder: context.pluginFolder)
    let plugins = PluginUsage(context.registry(beside: pipeline.path)).uses(
      of: pipeline.definition)
    return try launch.start(request) { id, startedAt in
      RunRecord(
        id: id, pipeline: plan.name, pipelinePath: context.absolute(pipeline.path),
        inputs: inputs, overrides: context.texts(arguments[Options.set]), startedAt: startedAt,
        request: request,
        plugins: plugins)
    }
  }
}

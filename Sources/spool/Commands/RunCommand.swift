import Intake
import PipelineEngine
import PipelineModel
import Platform
import Store
import Stages

extension Command {
  /// `spool run`: one recording through one pipeline.
  static let run = Command(
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
      Options.passphraseFile, Options.checkpoint, Options.replace, Options.ignoreRoom,
      Options.destinations, Options.deliverWait, Options.ignoreMounts, Options.noSandbox,
      Options.json, Options.quiet,
    ],
    examples: [
      Example("Clean one voice note", "spool run Pipelines/voice-note.yaml note.m4a"),
      Example(
        "Quieter than the pipeline says",
        "spool run Pipelines/voice-note.yaml note.m4a --set loudness='-18 LUFS'"),
    ],
    perform: CommandContext.runPipeline)
}

extension CommandContext {
  fileprivate func runPipeline() throws(SpoolError) -> ExitCode {
    let pipeline = try pipeline(at: arguments[Options.pipeline])
    let inputs = try bind(arguments[Options.inputs], to: pipeline)
    let plan = try plan(pipeline, inputs: inputs, overrides: arguments[Options.set])
    warnOfUnused(arguments[Options.set], in: pipeline.definition)
    let folder = try OutputFolder.check(absolute(arguments[Options.out] ?? "exports"))
    var options = Runner.Options(folder: folder)
    options.keepsEverything = arguments[Options.checkpoint] == .every
    let sidecars = try sidecars(
      of: inputs, in: pipeline, overridden: Set(texts(arguments[Options.set]).keys))
    let store = try store(for: plan, options)
    try MountPoint.checkDisk(
      ofOutput: folder, in: store, isIgnored: arguments[Options.ignoreMounts])
    let request = RunRequest(
      pipelineText: pipeline.text, folder: folder, isReplacing: arguments[Options.replace],
      keepsEverything: options.keepsEverything, names: names(of: inputs, in: pipeline),
      pluginFolder: pluginFolder, chapters: sidecars.chapters, titles: sidecars.titles,
      signing: plan.receiptStep == nil ? nil : signing)
    let plugins = PluginUsage(registry(beside: pipeline.path)).uses(of: pipeline.definition)
    return try start(plan, request, in: store) { id, startedAt in
      RunRecord(
        id: id, pipeline: plan.name, pipelinePath: absolute(pipeline.path), inputs: inputs,
        overrides: texts(arguments[Options.set]), startedAt: startedAt, request: request,
        plugins: plugins)
    }
  }
}

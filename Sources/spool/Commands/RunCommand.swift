import Arguments
import PipelineEngine
import PipelineModel
import Stages

/// `spool run`: one recording through one pipeline.
struct RunCommand: Command {
  static let declaration = CommandDeclaration(
    name: "run", group: "Work",
    summary: "Run a pipeline on a recording.",
    discussion: """
      Work that was done before, with the same sound and the same parameters, is reused. Exports \
      appear in the output folder under their final names only when they are whole. Ctrl-C stops \
      at the next clean point; a second one at once.
      """,
    positionals: [Options.pipeline, Options.inputs],
    options: [
      Options.out, Options.set, Options.store, Options.checkpoint, Options.replace, Options.json,
      Options.quiet,
    ],
    examples: [
      Example("Clean one voice note", "spool run Pipelines/voice-note.yaml note.m4a"),
      Example(
        "Quieter than the pipeline says",
        "spool run Pipelines/voice-note.yaml note.m4a --set loudness='-18 LUFS'"),
    ])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let bench = Workbench(console: console)
    do throws(Workbench.Refusal) {
      let pipeline = try bench.pipeline(at: arguments[Options.pipeline])
      let inputs = try bench.bind(arguments[Options.inputs], to: pipeline)
      let plan = try bench.plan(pipeline, inputs: inputs, overrides: arguments[Options.set])
      let folder = try OutputFolder.prepare(
        bench.absolute(arguments[Options.out] ?? "exports"), console: console)
      let store = try bench.store(at: arguments[Options.store])
      let stop = SignalWatch.begin()
      let clock = SystemClock()
      let recorder = recorder(plan, clock, console)
      let runner = Runner(
        store: store, executors: [SoundPassExecutor(coreCount: SystemClock.coreCount)],
        recorder: recorder, stop: stop, clock: clock)
      var options = Runner.Options(folder: folder)
      options.isReplacing = arguments[Options.replace]
      options.keepsEverything = arguments[Options.checkpoint] == .every
      let record = RunRecord(
        id: clock.makeRunID(), pipeline: plan.name, pipelinePath: bench.absolute(pipeline.path),
        inputs: inputs, overrides: overrides, startedAt: clock.now)
      return run(plan, options, record, runner, stop, console)
    } catch {
      console.report(error.text)
      return error.code
    }
  }

  private func run(
    _ plan: Plan, _ options: Runner.Options, _ record: RunRecord, _ runner: Runner,
    _ stop: StopRequest, _ console: Console
  ) -> ExitCode {
    do throws(RunError) {
      _ = try runner.run(plan, options, record: record)
      return .done
    } catch {
      if error.error.cause == .cancelled, let signal = stop.signalNumber {
        console.report("stopped; the same command goes on from the last checkpoint")
        return .interrupted(by: signal)
      }
      if arguments[Options.json] { console.print(JSONText.of(ErrorLine(error))) }
      console.report(ErrorText(error).render(console))
      return .failed
    }
  }

  private func recorder(
    _ plan: Plan, _ clock: SystemClock, _ console: Console
  ) -> any RunRecorder {
    if arguments[Options.json] { return JSONRecorder(console) }
    if arguments[Options.quiet] { return SilentRecorder(console) }
    return TerminalRecorder(plan, clock: clock, console: console)
  }

  private var overrides: [String: String] {
    Dictionary(
      arguments[Options.set].compactMap { Workbench.assignment($0) }, uniquingKeysWith: { $1 })
  }
}

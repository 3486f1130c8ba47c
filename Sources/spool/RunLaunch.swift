import Threading
import Arguments
import PipelineEngine
import PipelineModel
import Stages
import Store

/// A run as `spool run` and `spool resume` start it: everything is known and checked, and the work
/// begins.
struct RunLaunch {
  /// How events are told.
  enum Voice {
    /// One JSON object for each.
    case json
    /// Nothing but what went wrong.
    case quiet
    /// For a person.
    case full

    /// What the options say.
    init(_ arguments: ParsedArguments) {
      self = arguments[Options.json] ? .json : arguments[Options.quiet] ? .quiet : .full
    }
  }

  let plan: Plan
  let store: DiskStore
  /// `--store` as it was typed.
  let storeOption: String?
  let voice: Voice
  /// `--keys` as it was typed.
  let keysOption: String?
  /// `--passphrase-file` as it was typed.
  let passphraseFile: String?
  /// Whether it begins although it may not fit.
  let ignoresRoom: Bool
  let console: Console

  /// Runs the plan to its end, or to the clean point where a signal ends it.
  /// - Parameter makeRecord: makes the record of a run with this name that begins now.
  func start(
    _ request: RunRequest, _ makeRecord: (RunID, _ startedAt: Double) -> RunRecord
  ) -> ExitCode {
    let bench = Workbench(console: console)
    let witness = bench.witness(
      keys: keysOption, passphraseFile: passphraseFile, ledger: store)
    do throws(Workbench.Refusal) {
      if plan.steps.contains(where: { $0.stage is any ReceiptStage }) { try bench.unlock(witness) }
    } catch {
      console.report(error.text)
      return error.code
    }
    let clock = SystemClock()
    let record = makeRecord(clock.makeRunID(), clock.now)
    let resumeCommand =
      "spool resume \(record.id)" + (storeOption.map { " --store \($0)" } ?? "")
      + (keysOption.map { " --keys \($0)" } ?? "")
      + (passphraseFile.map { " --passphrase-file \($0)" } ?? "")
    let farewell = "stopped: what was noted is kept, and \(resumeCommand) goes on from there"
    let stop = SignalWatch.begin(clock) { [console] in console.lastWord(farewell) }
    let runner = Runner(
      store: store, executors: [SoundPassExecutor(coreCount: CoreCount.online)],
      recorder: recorder(clock), stop: stop, clock: clock,
      witness: witness)
    var options = Runner.Options(folder: request.folder)
    options.isReplacing = request.isReplacing
    options.ignoresRoom = ignoresRoom
    options.keepsEverything = request.keepsEverything
    options.names = request.names ?? [:]
    options.resumeCommand = resumeCommand
    do throws(RunError) {
      _ = try runner.run(plan, options, record: record)
      LastStamps(store, storeOption: storeOption, voice: voice, console: console)
        .ask(clock, stop: stop)
      return .done
    } catch {
      if error.error.cause == .cancelled, let signal = stop.signalNumber {
        console.report(farewell)
        return .interrupted(by: signal)
      }
      if case .json = voice { console.print(JSONText.of(ErrorLine(error))) }
      console.report(ErrorText(error).render(console))
      return .failed
    }
  }

  private func recorder(_ clock: SystemClock) -> any RunRecorder {
    switch voice {
    case .json: JSONRecorder(console)
    case .quiet: SilentRecorder(console)
    case .full: terminalRecorder(clock)
    }
  }

  /// What the store has to say must not be written into the board.
  private func terminalRecorder(_ clock: SystemClock) -> TerminalRecorder {
    let recorder = TerminalRecorder(plan, clock: clock, console: console)
    store.listen { recorder.tell("note: \(Format.visible($0))") }
    return recorder
  }
}

import Arguments
import CrashTest
import Glibc
import PipelineModel

/// `spool crashtest`: shows that a run can be killed anywhere.
struct CrashTestCommand: Command {
  private static let kills = Option<Int?>.value(
    "kills", "N", help: "Kill the run so many times, at random moments.", defaultText: "50")
  private static let seed = Option<Int?>.value(
    "seed", "S", help: "Fixes the moments, as shares of what is left of the run.",
    defaultText: "a new one each time")
  private static let atEveryWrite = Option<Bool>.flag(
    "at-every-write",
    help: "Instead, kill one run before each operation that changes its store: write, flush, "
      + "link, rename, commit.")
  private static let every = Option<Int?>.value(
    "every", "K", help: "With --at-every-write: only before every K-th operation.",
    defaultText: "1")
  private static let keep = Option<Bool>.flag("keep", help: "Delete nothing in the end.")
  private static let scratch = Option<String?>.value(
    "scratch", "DIR", help: "The folder to work in.", defaultText: "$TMPDIR, or /tmp",
    completion: .folder)

  static let declaration = CommandDeclaration(
    name: "crashtest", group: "Care",
    summary: "Kill a run again and again, and compare what it leaves byte for byte.",
    discussion: """
      Runs the pipeline once undisturbed. Then runs it in processes that get SIGKILL, starts it \
      again until it is done, and compares every output with the undisturbed one, but for receipts, which say when \
      and in which run they were signed. After each kill, \
      every file under a final name must be whole. Works in a scratch folder with stores of its \
      own; your store and your exports are not touched.

      A seed fixes after which share of the work that is left each start is killed, not after how many \
      seconds: how far a run has come by then depends on how busy the machine is, so that the same seed \
      does not kill at the very same instructions again.

      Exit code 0 says that all was identical, 4 that something was not: then both files are kept.
      """,
    positionals: [Options.pipeline, Options.inputs],
    options: [
      kills, seed, atEveryWrite, every, Options.set, Options.plugins, scratch, keep, Options.json,
    ],
    examples: [
      Example(
        "Kill it 100 times",
        "spool crashtest Pipelines/podcast.yaml take.flac --kills 100"),
      Example(
        "Kill it before every change of the store",
        "spool crashtest Pipelines/voice-note.yaml note.m4a --at-every-write"),
    ])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    Environment.share(plugins: arguments[Options.plugins])
    let bench = Workbench(console: console)
    do throws(Workbench.Refusal) {
      // Whatever is wrong with the pipeline is said here, and not by a child.
      let pipeline = try bench.pipeline(at: arguments[Options.pipeline])
      let inputs = try bench.bind(
        arguments[Options.inputs], to: pipeline, store: nil)
      _ = try bench.plan(pipeline, inputs: inputs, overrides: arguments[Options.set])
    } catch {
      console.report(error.text)
      return error.code
    }
    if let fault {
      console.report(ErrorText(fault).render(console))
      return .usage
    }
    // Started before any thread and any child: signals come to this process alone.
    let stop = SignalWatch.begin()
    let recorder = CrashTestRecorder(plan, isJSON: arguments[Options.json], console)
    let test = KillTest(
      of: TestedRun(
        pipeline: arguments[Options.pipeline], inputs: arguments[Options.inputs],
        overrides: arguments[Options.set]),
      scratch: scratchFolder(bench), keepsEverything: arguments[Self.keep],
      shouldStop: { stop.isRequested }, report: recorder.record)
    do throws(CrashTestError) {
      let result = try test.carryOut(plan)
      recorder.conclude(result)
      if !result.differences.isEmpty { return .verificationFailed }
      return stop.signalNumber.map { .interrupted(by: $0) } ?? .done
    } catch {
      let failure = StageError(error.message, reason: error.reason, advice: error.advice)
      console.report(ErrorText(failure).render(console))
      return error.exitCode.map { ExitCode(rawValue: $0) } ?? .failed
    }
  }

  /// What is wrong with the options; nil if nothing.
  private var fault: StageError? {
    for (name, value) in [("kills", arguments[Self.kills]), ("every", arguments[Self.every])] {
      guard let value, value <= 0 else { continue }
      return StageError("--\(name) wants a number above 0, not \(value)", advice: "leave it out")
    }
    let isRandom = arguments[Self.kills] != nil || arguments[Self.seed] != nil
    if arguments[Self.atEveryWrite], isRandom {
      return StageError(
        "--at-every-write goes with neither --kills nor --seed",
        reason: "it kills before every operation, and nothing of it is random",
        advice: "run the two tests one after the other")
    }
    if !arguments[Self.atEveryWrite], arguments[Self.every] != nil {
      return StageError(
        "--every goes with --at-every-write only", advice: "add --at-every-write, or leave it out")
    }
    return nil
  }

  private var plan: KillPlan {
    if arguments[Self.atEveryWrite] {
      return .beforeOperations(stride: arguments[Self.every] ?? 1)
    }
    let seed = arguments[Self.seed].map { UInt64(bitPattern: Int64($0)) }
    // Short enough to be typed again.
    return .atRandom(
      kills: arguments[Self.kills] ?? 50, seed: seed ?? UInt64.random(in: 0..<1_000_000))
  }

  private func scratchFolder(_ bench: Workbench) -> String {
    bench.absolute(arguments[Self.scratch] ?? Environment.variables["TMPDIR"] ?? "/tmp")
  }
}

import Glibc
import PipelineModel
import Platform

extension Command {
  /// `spool pipeline crashtest`: tests that a run survives being killed at any time.
  static let crashTest = Command(
    name: "pipeline crashtest", group: "Pipelines",
    summary: "Kill a run again and again, and compare what it leaves byte for byte.",
    discussion: """
      Runs the pipeline once undisturbed. Then runs it in processes that get SIGKILL, and every fourth \
      one SIGTERM, starts it again until it is done, and compares every output with the undisturbed one, but for receipts, which say when \
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
      Options.kills, Options.seed, Options.atEveryWrite, Options.every, Options.set,
      Options.plugins, Options.scratch, Options.keep, Options.json,
    ],
    examples: [
      Example(
        "Kill it 100 times", "spool pipeline crashtest Pipelines/podcast.yaml take.flac --kills 100"
      ),
      Example(
        "Kill it before every change of the store",
        "spool pipeline crashtest Pipelines/voice-note.yaml note.m4a --at-every-write"),
    ],
    perform: { $0.sharingPlugins().testCrashes })
}

extension Options {
  fileprivate static let kills = Option<Int?>.value(
    "kills", "N", help: "Kill the run so many times, at random moments.", defaultText: "50")
  fileprivate static let seed = Option<Int?>.value(
    "seed", "S", help: "Fixes the moments, as shares of what is left of the run.",
    defaultText: "a new one each time")
  fileprivate static let atEveryWrite = Option<Bool>.flag(
    "at-every-write",
    help: "Instead, kill one run before each operation that changes its store: write, flush, "
      + "link, rename, commit.")
  fileprivate static let every = Option<Int?>.value(
    "every", "K", help: "With --at-every-write: only before every K-th operation.", defaultText: "1"
  )
  fileprivate static let keep = Option<Bool>.flag("keep", help: "Delete nothing in the end.")
  fileprivate static let scratch = Option<String?>.value(
    "scratch", "DIR", help: "The folder to work in.", defaultText: "$TMPDIR, or /tmp",
    completion: .folder)
}

extension CommandContext {
  fileprivate func testCrashes() throws(SpoolError) -> ExitCode {
    // Reports pipeline errors before a child process would.
    let pipeline = try pipeline(at: arguments[Options.pipeline])
    let inputs = try bind(arguments[Options.inputs], to: pipeline)
    _ = try self.plan(pipeline, inputs: inputs, overrides: arguments[Options.set])
    try checkOptions()
    // Blocks signals before any thread starts, so that only this process receives them.
    let stop = console.heed(SignalWatch.begin())
    let plan = killPlan
    let test = KillTest(
      of: TestedRun(
        pipeline: arguments[Options.pipeline], inputs: arguments[Options.inputs],
        overrides: arguments[Options.set]),
      scratch: scratchFolder(), keepsEverything: arguments[Options.keep],
      shouldStop: { stop.isRequested },
      report: { event in
        if isJSON { return console.print(json: Self.line(event)) }
        if let text = Self.text(event, of: plan) { console.print(text) }
      })
    let result: KillTestResult
    do throws(SpoolError) { result = try test.carryOut(plan) } catch {
      guard let code = test.referenceExitCode else { throw error }
      console.report(error.text(console))
      return ExitCode(rawValue: code)
    }
    answer(JSONLine("result", ["result": result]), result.text)
    if !result.differences.isEmpty { return .verificationFailed }
    return stop.signalNumber.map { .interrupted(by: $0) } ?? .done
  }

  private func checkOptions() throws(SpoolError) {
    for (name, value) in [("kills", arguments[Options.kills]), ("every", arguments[Options.every])]
    {
      guard let value, value <= 0 else { continue }
      throw .usage("--\(name) wants a number above 0, not \(value)", advice: "leave it out")
    }
    let isRandom = arguments[Options.kills] != nil || arguments[Options.seed] != nil
    if arguments[Options.atEveryWrite], isRandom {
      throw .usage(
        "--at-every-write goes with neither --kills nor --seed",
        reason: "it kills before every operation, and nothing of it is random",
        advice: "run the two tests one after the other")
    }
    if !arguments[Options.atEveryWrite], arguments[Options.every] != nil {
      throw .usage(
        "--every goes with --at-every-write only", advice: "add --at-every-write, or leave it out")
    }
  }

  private var killPlan: KillPlan {
    if arguments[Options.atEveryWrite] {
      return .beforeOperations(stride: arguments[Options.every] ?? 1)
    }
    let seed = arguments[Options.seed].map { UInt64(bitPattern: Int64($0)) }
    // A short seed is easy to type again.
    return .atRandom(
      kills: arguments[Options.kills] ?? 50, seed: seed ?? UInt64.random(in: 0..<1_000_000))
  }

  private func scratchFolder() -> String {
    absolute(arguments[Options.scratch] ?? Environment.variables["TMPDIR"] ?? "/tmp")
  }
}

/// A crash test's progress as text or JSON.
extension CommandContext {
  /// Progress interval if every kill is a series of its own.
  private static let killsPerLine = 10

  static func line(_ event: KillTestEvent) -> JSONLine {
    switch event {
    case .reference(let files, let seconds):
      JSONLine("reference", ["files": files, "seconds": seconds])
    case .killed(let number, let series, let seconds, let operation):
      JSONLine(
        "killed",
        ["number": number, "series": series, "seconds": seconds, "operation": operation])
    case .wentOn(let series, let seconds, let isInsidePass, let losses):
      JSONLine(
        "went-on",
        ["series": series, "seconds": seconds, "isInsidePass": isInsidePass, "losses": losses])
    case .seriesEnded(let series, let kills, let differenceCount):
      JSONLine("series", ["series": series, "kills": kills, "differenceCount": differenceCount])
    case .differs(let difference): JSONLine("differs", ["difference": difference])
    }
  }

  private static func text(_ event: KillTestEvent, of plan: KillPlan) -> String? {
    switch event {
    case .reference(let files, let seconds):
      let list = files.map { "  \($0.sha256.prefix(16))…  \(Format.visible($0.name))" }
      return (["undisturbed: \(Format.duration(seconds))"] + list + ["", intent(plan)])
        .joined(separator: "\n")
    case .killed(let number, _, _, let operation?):
      guard number % killsPerLine == 0 else { return nil }
      return "  killed \(Count.of(number, "time")), at last before operation \(operation)"
    case .seriesEnded(let number, let kills, let differenceCount):
      guard case .atRandom = plan else { return nil }
      let verdict = differenceCount == 0 ? "identical" : Count.of(differenceCount, "problem")
      let count = Format.pad(Format.padLeft("\(kills)", 3) + (kills == 1 ? " kill" : " kills"), 12)
      return "  series \(Format.padLeft(String(number), 3))\(count)\(verdict)"
    case .differs(let difference):
      let reference = difference.referencePath.map { "\n    reference: \($0)" } ?? ""
      return """
          WRONG after \(difference.after): \(difference.words)
            \(difference.path)\(reference)
        """
    case .killed, .wentOn: return nil
    }
  }

  private static func intent(_ plan: KillPlan) -> String {
    switch plan {
    case .atRandom(let kills, let seed): "\(Count.of(kills, "kill")) at random, --seed \(seed)"
    case .beforeOperations(1): "one kill before every operation that changes the store"
    case .beforeOperations(let stride):
      "one kill before every \(Count.ordinal(stride)) operation that changes the store"
    }
  }
}

/// The result of a crash test as a table.
extension KillTestResult {
  /// An empty line, the table and the verdict.
  fileprivate var text: String {
    var rows = [
      ("kills", "\(kills)"),
      ("resumes", resumption),
      ("series", "\(series)"),
      ("identical outputs", "\(identicalOutputs) of \(outputs)"),
      ("looks at the folder", "\(checks)"),
    ]
    if let operations = operations { rows.append(("store operations", "\(operations)")) }
    rows.append(("loss of time", spread(bound, "by this test's clock")))
    rows.append(("  in the runs' words", spread(statedLost, "")))
    rows.append(("loss of sound", spread(soundRepeated, "of the recording, done again")))
    rows.append(("processor time a kill", spread(Spread(repeatedWork), "more than undisturbed")))
    rows.append(("start to going on", spread(Spread(latencies), "")))
    let lines = rows.map { Format.pad($0, 22) + $1 }
    return ([""] + lines + [""] + remark + [verdict]).joined(separator: "\n")
  }

  private var resumption: String {
    switch resumes {
    case 0: "no start went on inside a pass"
    case 1: "1 start went on inside a pass"
    default: "\(resumes) starts went on inside a pass"
    }
  }

  /// The shortest undisturbed run, in seconds, in which random kills usually find journal entries:
  /// one is written every half second, after start-up.
  private static let telling = 5.0

  /// Explains why no start resumed inside a pass, and suggests a suitable recording.
  private var remark: [String] {
    guard kills > 0, resumes == 0, let seconds = undisturbedSeconds,
      seconds < Self.telling
    else { return [] }
    var lines = [
      "A pass is noted every half second; at \(Format.duration(seconds)) in all, the recording is "
        + "too short for that."
    ]
    if let media = mediaSeconds {
      let minutes = (media * Self.telling / seconds / 60).rounded(.up)
      lines.append("One of about \(Format.decimal(minutes, places: 0)) min would show it.")
    }
    return lines + [""]
  }

  private var verdict: String {
    let kept = keptFolder.map { "\nkept: \($0)" } ?? ""
    let time = Format.duration(seconds)
    if !differences.isEmpty { return "NOT identical: see above\(kept)" }
    if isStopped { return "stopped after \(time); identical so far\(kept)" }
    return "all identical, in \(time)\(kept)"
  }

  private func spread(_ spread: Spread?, _ unit: String) -> String {
    guard let spread else { return "–" }
    let words = "worst \(Format.duration(spread.worst)), median \(Format.duration(spread.median))"
    return unit.isEmpty ? words : "\(words), \(unit)"
  }
}

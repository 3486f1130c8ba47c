import Platform
import TestSupport
import Testing
@testable import Intake
@testable import PipelineEngine
@testable import PipelineModel
@testable import Store
@testable import spool

/// Real commands are held against the schemas in `EndToEndTests/Output`; these tests have a sample of
/// every event, the rare ones too.
@Suite("The schemas of --json")
struct OutputSchemaTests {
  @Test("are there for each command that takes --json, and for files in JSON")
  func commands() {
    let commands = Spool.program.commands.filter { command in
      command.options.contains { $0.name == "json" }
    }
    let names =
      commands.map { $0.name.replacing(" ", with: "-") }
      + ["batch-report", "delivered-recording"]
    #expect(OutputSchema.all.map(\.name) == names.sorted())
  }

  @Test("hold every definition that they refer to, and no other")
  func definitions() throws {
    let list = try #require(OutputSchema.all.first { $0.name == "runs-list" })
    guard case .group(let schema) = list.value, case .group(let definitions)? = schema["$defs"]
    else { throw SpoolError("there are no definitions") }
    #expect(
      Set(definitions.keys) == [
        "run", "step", "artifact", "publishedFile", "pluginUse", "findings", "time", "digest",
      ])
  }

  @Test(
    "describe each event of runs, batches and crash tests",
    .enabled(if: SchemaCheck.isPossible, "Python's jsonschema is not installed"))
  func events() throws {
    var check = try SchemaCheck()
    func add(_ name: String, _ lines: [some Encodable]) throws {
      let schema = try #require(OutputSchema.all.first { $0.name == name })
      check.add(lines.map { JSONText.of($0) }, to: schema.value.canonicalJSON)
    }
    let collected = Self.collection.event
    try add("run", Self.runEvents.map(JSONRecorder.line) + [JSONLine(Self.failure), collected])
    try add("batch", Self.batchEvents.map(JSONRecorder.line) + [JSONLine(Self.failure), collected])
    try add("watch", [Self.watchCollection])
    try add(
      "pipeline-crashtest",
      Self.crashTestEvents.map(CommandContext.line) + [Self.crashTestResult])
    // The lines of time stamps and deliveries need an authority or a destination: the tests of the
    // program have one.
    let problems = try check.problems().filter {
      !$0.hasSuffix(": stamped") && !$0.hasSuffix(": waiting-for-stamp")
        && !$0.contains("to a destination") && !$0.hasSuffix(": destination-held")
    }
    #expect(problems == [])
  }

  @Test("name each event of a watch")
  func watchEvents() throws {
    let watch = try #require(OutputSchema.all.first { $0.name == "watch" })
    guard case .group(let schema) = watch.value, case .group(let members)? = schema["properties"],
      case .group(let event)? = members["event"], case .list(let names)? = event["enum"]
    else { throw SpoolError("the schema names no events") }
    #expect(names == WatchEvent.Event.allCases.map { .text($0.rawValue) })
  }

  // MARK: Samples

  private static let digest = SHA256.digest(of: "bytes")
  private static let step = StepID("eq")
  private static let failure = RunError(
    SpoolError("no", reason: "why", advice: "what to do"), step: step, kind: "eq",
    recording: "/note.wav")

  private static let stepRecord: StepRecord = {
    let artifact = Artifact(kind: .sound, digest: digest, byteCount: 5)
    var record = StepRecord(
      id: step, kind: "eq", outcome: .made, key: Checkpoint.Key(digest),
      outputs: [.sound: StepOutput(kind: .sound, identity: digest, artifact: artifact)],
      findings: #"{"peak":-3}"#)
    record.resumedAtSeconds = 1
    record.loss = loss
    (record.failure, record.workSeconds) = ("no", 0.75)
    (record.begunAt, record.finishedAt) = (1_764_000_000, 1_764_000_001.25)
    return record
  }()

  private static let loss: ResumeLoss = {
    var loss = ResumeLoss(
      .damaged, at: 1_764_000_000, run: RunID("r"), processNumber: 7, part: "kept sound")
    loss.furtherParts = ["more"]
    return loss
  }()

  private static let file = PublishedFile(
    path: "/out/note.wav", byteCount: 5, step: step, wasThere: false, digest: digest)

  private static let run: RunRecord = {
    let request = RunRequest(
      pipelineText: "pipeline: p", folder: "/out", isReplacing: true, keepsEverything: false,
      names: ["note": "n"], album: [step: ["gain": 3]], pluginFolder: "/plugins",
      chapters: ["note": [RunRequest.Chapter(start: 1, title: "One")]], titles: ["note": "A walk"],
      fileName: "walk")
    var run = RunRecord(
      id: RunID("r2"), pipeline: "p", pipelinePath: "/p.yaml", inputs: ["note": "/note.wav"],
      overrides: ["loudness": "-18 LUFS"], startedAt: 1_764_000_000, request: request,
      resumes: RunID("r"),
      batch: RunRecord.Batch(
        batch: RunID("b"), folder: "/notes", output: "/out", command: "spool batch"),
      plugins: [PluginUse(kind: "k", name: "n", version: "1", digest: digest.hex, folder: "/k")])
    run.steps = [stepRecord]
    run.published = [file]
    run.finishedAt = 1_764_000_002
    (run.mediaSeconds, run.activeSeconds, run.failure) = (3, 2, "no")
    run.recordings = ["note": digest]
    run.workplace = Host(program: "Spool", version: "1", host: "h", system: "Linux")
    return run
  }()

  private static let runEvents: [RunEvent] = [
    .started(run), .estimated(estimate), .reused(step, kind: "eq"),
    .skipped(SkippedStep(id: step, kind: "eq", reason: "$loud is false")),
    .waiting(processNumber: 7, isStopped: true),
    .resumed(steps: [step], atSeconds: 1, ofSeconds: 3, lostSeconds: 0.1),
    .beganAnew(steps: [step], loss, lostSeconds: 1),
    .hashing(path: "/tapes/1.wav", done: 1 << 30, total: 2 << 30),
    .dropped(step, part: "kept sound", goesOnAtSeconds: 1),
    .passStarted(steps: [step], replayed: [step], mediaSeconds: 3),
    .progress(step, done: 1, total: 3), .finished(stepRecord), .warning(step, "clipped"),
    .retrying(step, SpoolError("no"), afterSeconds: 2), .published(file), .ended(run),
  ]

  private static let estimate = WorkEstimate(
    units: [.init(steps: [step], seconds: 2), .init(steps: [StepID("proof")], seconds: nil)],
    isLearned: true)

  private static let collection: CollectionReport = {
    var report = CollectionReport(isDryRun: false)
    (report.freedBytes, report.keptBytes) = (5, 7)
    return report
  }()

  private static let watchCollection: WatchEvent = {
    var event = WatchEvent(.collected, at: 1_764_000_000, text: collection.summary)
    (event.freedBytes, event.keptBytes) = (collection.freedBytes, collection.keptBytes)
    return event
  }()

  private static let batchEvents: [BatchEvent] = {
    var skipped = SkippedFiles()
    skipped.add("letter.txt", Array("letter.txt".utf8), .noRecording)
    var forecast = BatchForecast.nothing
    forecast.skipped = skipped
    forecast.renamed = [RenamedFile(path: "a.wav", name: "a-2")]
    var failed = BatchFileResult(path: "a.wav", outcome: .failed, report: #"{"levels":{"eq":1}}"#)
    failed.failure = BatchFileResult.Failure(SpoolError("no", reason: "why"), step: step)
    failed.mediaSeconds = 3
    var summary = BatchSummary([failed], seconds: 1)
    (summary.skipped, summary.pause) = (skipped, SpoolError("full"))
    summary.reportPath = "/out/batch.json"
    return [
      .listening(step: step, round: 1, done: 0, of: 2),
      .hashing(path: "1.wav", done: 0, total: 2 << 30), .settled(step: step, ["gain": "3 dB"]),
      .planned(forecast), .started(path: "a.wav", share: 0.5),
      .started(path: "a%\n.wav", share: 0.5), .progress(path: "a%\n.wav", fraction: 0.5),
      .warning(path: "a%\n.wav", step: step, text: "clipped"),
      .progress(path: "a.wav", fraction: 0.5), .warning(path: "a.wav", step: step, text: "clipped"),
      .finished(failed), .ended(summary),
    ]
  }()

  private static let difference = Difference(
    kind: .missing, path: "/out/a.wav", referencePath: "/reference/a.wav", after: "kill 1")
  private static let killLoss = Trace.Loss(soundSeconds: 1, workSeconds: 0.5, statedSeconds: 0.4)

  private static let crashTestEvents: [KillTestEvent] = [
    .reference(
      files: [KillTest.Reference.Output(name: "a.wav", sha256: digest.hex, byteCount: 5)],
      seconds: 1),
    .killed(number: 1, series: 1, afterSeconds: 0.3, beforeOperation: 4),
    .wentOn(series: 1, afterSeconds: 0.2, isInsidePass: true, losses: [killLoss]),
    .seriesEnded(1, kills: 1, differenceCount: 1), .differs(difference),
  ]

  private static var crashTestResult: JSONLine {
    var result = KillTestResult()
    result.losses = [killLoss]
    (result.latencies, result.repeatedWork) = ([0.2], [0.1])
    (result.undisturbedSeconds, result.mediaSeconds, result.operations) = (1, 3, 40)
    (result.differences, result.keptFolder) = ([difference], "/tmp/kept")
    return JSONLine("result", ["result": result])
  }
}

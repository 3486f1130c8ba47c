import Foundation
import Glibc
import PipelineEngine
import PipelineModel
import Platform
import Store
import Synchronization
import TestSupport
import Testing

@Suite("A runner over a store on a disk")
struct RunnerTests {
  private let bench: RunnerBench

  init() throws { bench = try RunnerBench() }

  @Test("a run that failed in the middle resumes there")
  func resuming() throws {
    bench.fail("second", with: SpoolError("write", "/elsewhere/a", reason: "it is away"), times: 1)
    let failure = try #require(throws: RunError.self) { try bench.run("1") }
    #expect(failure.step == StepID("second"))
    #expect(failure.recording == bench.recording)
    let failed = try bench.record("1")
    #expect(failed.state == .failed)
    #expect(failed.steps.map(\.outcome) == [.made, .failed, .pending])
    #expect(failed.failure == "second: cannot write /elsewhere/a: it is away")
    #expect(failed.steps[1].failure == "cannot write /elsewhere/a: it is away")

    let done = try bench.run("2")
    #expect(done.state == .done)
    #expect(done.steps.map(\.outcome) == [.reused, .made, .made])
    #expect(bench.counts == ["first": 1, "second": 2, "third": 1])
    #expect(try bench.export("note.txt") == "a recording, first, second, third")
  }

  @Test("finished work is reused, by another process too")
  func reusing() throws {
    try bench.run("1")
    let again = try bench.reopened().run("2")
    #expect(again.steps.map(\.outcome) == [.reused, .reused, .reused])
    #expect(again.published.map(\.wasThere) == [true])
    #expect(bench.counts == ["first": 1, "second": 1, "third": 1])
  }

  @Test("a recording that lies under another name is known by its own")
  func named() throws {
    try bench.scratch.write("a recording", to: "other/4f1a")
    let unreadable = SpoolError("read", bench.scratch.file("other/4f1a"), reason: "it is torn")
    bench.fail("second", with: unreadable, times: 1)
    let failure = try #require(throws: RunError.self) {
      try bench.run("1", recording: "other/4f1a", called: "work/walk.m4a")
    }
    let name = bench.scratch.file("work/walk.m4a")
    #expect(failure.error.subject == name)
    #expect(failure.recording == name)
    let done = try bench.run("2", recording: "other/4f1a", called: "work/walk.m4a")
    #expect(done.inputs == ["note": name])
    #expect(done.recordings == ["note": SHA256.digest(of: "a recording")])
    #expect(done.steps.map(\.outcome) == [.reused, .made, .made])
    #expect(try bench.export("walk.txt") == "a recording, first, second, third")
    #expect(try bench.run("3").steps.first?.outcome == .reused, "a name is part of no key")
  }

  @Test("a run never replaces another recording's export, unless it is asked to")
  func otherRecording() throws {
    try bench.run("1")
    try FileManager.default.removeItem(atPath: bench.recording)
    try bench.scratch.write("another recording", to: "other/note.m4a")
    let failure = try #require(throws: RunError.self) {
      try bench.run("2", recording: "other/note.m4a")
    }
    #expect(failure.error.message.hasPrefix("\(bench.folder)/note.txt was made of another"))
    #expect(try bench.export("note.txt") == "a recording, first, second, third")
    #expect(bench.counts["first"] == 1, "work was done in vain")
    try bench.run("3", recording: "other/note.m4a", isReplacing: true)
    #expect(try bench.export("note.txt") == "another recording, first, second, third")
  }

  @Test("a run never replaces another pipeline's export, unless it is asked to")
  func otherPipeline() throws {
    try bench.run("1")
    // The same bytes need no place of their own.
    #expect(try bench.run("2", pipeline: "other").published.map(\.wasThere) == [true])
    let shorter = ["first", "third"]
    let failure = try #require(throws: RunError.self) {
      try bench.run("3", pipeline: "other", stages: shorter)
    }
    #expect("\(failure)".contains("\(bench.folder)/note.txt"))
    #expect("\(failure)".contains("an export of sample"))
    // The kind has no parameter for the name.
    #expect(
      failure.error.advice == "choose another folder with --out, or add --replace")
    #expect(try bench.export("note.txt") == "a recording, first, second, third")
    try bench.run("4", isReplacing: true, pipeline: "other", stages: shorter)
    #expect(try bench.export("note.txt") == "a recording, first, third")
    #expect(throws: RunError.self) { try bench.run("5") }
    try bench.run("6", pipeline: "other", stages: shorter)
  }

  @Test("other content under a recording's name is another recording")
  func edited() throws {
    try bench.run("1")
    try bench.scratch.write("an edited recording", to: "note.m4a")
    #expect(throws: RunError.self) { try bench.run("2") }
    #expect(try bench.record("2").state == .refused && bench.store.runs.open().isEmpty)
    #expect(try bench.export("note.txt") == "a recording, first, second, third")
    try bench.run("3", isReplacing: true)
    #expect(try bench.export("note.txt") == "an edited recording, first, second, third")
  }

  @Test("a disk that is full stays full for the caller, and pauses the run")
  func fullDisk() throws {
    let full = SpoolError("write", "\(bench.store.path)/x", SystemError(ENOSPC))
    bench.fail("second", with: full, times: 1)
    let failure = try #require(throws: RunError.self) { try bench.run("1") }
    #expect(failure.error.cause == .fullDisk)
    #expect(failure.step == StepID("second"))
    #expect(failure.error.message == "the disk of \(bench.store.path) is full")
    #expect(try bench.record("1").state == .paused)
    #expect(try bench.run("2").steps.map(\.outcome) == [.reused, .made, .made])
  }

  @Test("a full disk of the output folder is named by its folder")
  func fullFolder() throws {
    let full = SpoolError("write", "\(bench.folder)/in/x", SystemError(ENOSPC))
    bench.fail("third", with: full, times: 1)
    let failure = try #require(throws: RunError.self) { try bench.run("1") }
    #expect(failure.error.message == "the disk of \(bench.folder) is full")
  }

  @Test("a passing failure is tried again after growing pauses")
  func retrying() throws {
    bench.fail("second", with: SpoolError("the line is busy", cause: .transient), times: 2)
    #expect(try bench.run("1").state == .done)
    #expect(bench.counts["second"] == 3)
    #expect(bench.clock.pauses == [2, 4])
  }

  @Test("what stays busy fails after three attempts")
  func retryingInVain() throws {
    bench.fail("second", with: SpoolError("the line is busy", cause: .transient), times: 9)
    #expect(throws: RunError.self) { try bench.run("1") }
    #expect(bench.counts["second"] == 3)
  }

  @Test("a stage that takes longer than its timeout is ended, and named")
  func timeout() throws {
    bench.take(5, in: "second")
    let failure = try #require(throws: RunError.self) {
      try bench.run("1", timeouts: ["second": 4, "third": 1])
    }
    #expect(failure.step == StepID("second"))
    #expect(failure.error.message == "gave up after 4 s")
    #expect(failure.error.cause == .environment, "another attempt may be quicker")
    let failed = try bench.record("1")
    #expect(failed.steps.map(\.outcome) == [.made, .failed, .pending])
    #expect(bench.counts["second"] == 1, "it is not tried again")
    #expect(try bench.run("2", timeouts: ["second": 6]).state == .done)
  }

  @Test("a request to stop interrupts the run, which resumes")
  func cancelling() throws {
    let failure = try #require(throws: RunError.self) {
      try bench.run("1", stoppingAfter: "first")
    }
    #expect(failure.error.cause == .cancelled)
    let stopped = try bench.record("1")
    #expect(stopped.state == .interrupted)
    #expect(stopped.failure == nil)
    #expect(stopped.steps.map(\.outcome) == [.made, .pending, .pending])
    #expect(try bench.run("2").steps.map(\.outcome) == [.reused, .made, .made])
  }

  @Test("exports have the names that were given, whatever the file is called")
  func names() throws {
    let done = try bench.run("1", names: ["note": "walk.2.m4a"])
    #expect(done.published.map(\.path) == ["\(bench.folder)/walk.2.txt"])
    #expect(try bench.plan().exportPaths(["note": "walk.2.m4a"]) == ["walk.2.txt"])
  }

  @Test(
    "a recording that is gone refuses a run; a batch has begun, and fails",
    arguments: [false, true])
  func missing(isInBatch: Bool) throws {
    try FileManager.default.removeItem(atPath: bench.recording)
    #expect(throws: RunError.self) { try bench.run("1", isInBatch: isInBatch) }
    #expect(try bench.record("1").state == (isInBatch ? .failed : .refused))
    #expect(try bench.store.runs.open().count == (isInBatch ? 1 : 0))
    #expect(bench.counts.isEmpty)
  }

  @Test("a folder that is to be made is made for the first export, and not for a refused run")
  func missingFolder() throws {
    try FileManager.default.removeItem(atPath: bench.folder)
    bench.fail("second", with: SpoolError("no"), times: 1)
    #expect(throws: RunError.self) { try bench.run("1", makesFolder: true) }
    // Another one is away with its disk.
    #expect(throws: RunError.self) { try bench.run("2") }
    #expect(!FileManager.default.fileExists(atPath: bench.folder))
    #expect(try bench.run("3", makesFolder: true).published.count == 1)
  }
}

/// A recording, a store, and a pipeline of three stages: each appends its name to a text, and the
/// last exports it.
private struct RunnerBench {
  let scratch: ScratchFolder
  let store: DiskStore
  let clock = SteppingClock()
  private let script: Script

  var recording: String { scratch.file("note.m4a") }
  var folder: String { scratch.file("out") }

  /// How often each stage ran.
  var counts: [String: Int] { script.counts.withLock { $0 } }

  init() throws {
    scratch = try ScratchFolder()
    for name in ["out", "other"] {
      try FileManager.default.createDirectory(
        atPath: scratch.file(name), withIntermediateDirectories: true)
    }
    try scratch.write("a recording", to: "note.m4a")
    store = try DiskStore(at: scratch.file("store"))
    script = Script(clock: clock)
  }

  private init(_ other: RunnerBench) throws {
    (scratch, script) = (other.scratch, other.script)
    store = try DiskStore(at: other.store.path)
  }

  /// The same folder, opened as another process would.
  func reopened() throws -> RunnerBench { try RunnerBench(self) }

  /// Has a stage fail its next attempts.
  func fail(_ stage: String, with error: SpoolError, times: Int) {
    script.failures.withLock { $0[stage] = (error, times) }
  }

  /// Has a stage take so many seconds.
  func take(_ seconds: Double, in stage: String) {
    script.durations.withLock { $0[stage] = seconds }
  }

  func plan(
    for recording: String = "note.m4a", pipeline: String = "sample",
    stages kinds: [String] = ["first", "second", "third"], timeouts: [String: Double] = [:]
  ) throws -> Plan {
    let catalog = StageCatalog(
      kinds.map { kind in
        let input =
          kind == "first"
          ? Port(PortName("recording"), .sound, "the file", intake: .recording)
          : Port(PortName("file"), .file, "the text")
        let descriptor = StageDescriptor(
          kind: kind, revision: 1, summary: "appends its name", discussion: "", flow: .whole,
          inputs: [input], outputs: [Port(PortName("file"), .file, "the text")], parameters: [])
        return StageRegistration(descriptor, libraries: { [:] }) { [script] _ in
          let stage = Appending(kind: kind, input: input.name, script: script)
          return kind == "third" ? ExportedAppending(stage: stage) : stage
        }
      })
    return try Plan(
      .sample(kinds.map { .step($0, timeout: timeouts[$0]) }, named: pipeline), catalog: catalog,
      inputs: ["note": scratch.file(recording)])
  }

  @discardableResult
  func run(
    _ id: String, recording: String = "note.m4a", called name: String? = nil,
    names: [String: String] = [:], isReplacing: Bool = false, pipeline: String = "sample",
    stages: [String] = ["first", "second", "third"], stoppingAfter step: String? = nil,
    timeouts: [String: Double] = [:], makesFolder: Bool = false, isInBatch: Bool = false
  ) throws -> RunRecord {
    let file = SourceFile(scratch.file(recording), named: name.map { scratch.file($0) })
    let plan = try plan(for: recording, pipeline: pipeline, stages: stages, timeouts: timeouts)
      .with(files: ["note": file])
    let stop = StopRequest()
    let runner = Runner(
      store: store, log: store.runs, executors: [],
      recorder: StoppingRecorder(step: step.map { StepID($0) }, stop: stop), stop: stop,
      clock: clock)
    let request = RunRequest(
      pipelineText: "", folder: folder, isReplacing: isReplacing, keepsEverything: false,
      names: names)
    var options = Runner.Options(request)
    options.makesFolder = makesFolder
    return try runner.run(
      plan, options,
      record: RunRecord(
        id: RunID(id), pipeline: plan.name, pipelinePath: "/p", inputs: plan.inputs,
        overrides: [:], startedAt: clock.now, request: request,
        batch: isInBatch ? .init(batch: RunID("b"), folder: "/", output: nil, command: nil) : nil))
  }

  func record(_ id: String) throws -> RunRecord { try #require(try store.runs.run(named: id)) }

  func export(_ name: String) throws -> String {
    try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
  }
}

/// What the stages of a bench did, and have to do.
private final class Script: Sendable {
  let clock: SteppingClock
  let durations = Mutex<[String: Double]>([:])
  let counts = Mutex<[String: Int]>([:])
  let failures = Mutex<[String: (error: SpoolError, times: Int)]>([:])

  init(clock: SteppingClock) { self.clock = clock }

  func enter(_ kind: String) throws(SpoolError) {
    counts.withLock { $0[kind, default: 0] += 1 }
    let error = failures.withLock { failures -> SpoolError? in
      guard let (error, times) = failures[kind], times > 0 else { return nil }
      failures[kind] = (error, times - 1)
      return error
    }
    if let error { throw error }
    if let seconds = durations.withLock({ $0[kind] }) {
      clock.sleep(seconds, unless: StopRequest())
    }
  }
}

private struct Appending: WholeStage {
  let kind: String
  let input: PortName
  let script: Script

  func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput] {
    try context.check()
    try script.enter(kind)
    try context.check()
    let text: String
    if let artifact = context.inputs[input]?.artifact {
      text = try context.store.text(of: artifact)
    } else {
      text =
        context.files[input].flatMap { try? String(contentsOfFile: $0.path, encoding: .utf8) } ?? ""
    }
    let output = try context.store.keep("\(text), \(kind)", as: .file)
    return [PortName("file"): StepOutput(output)]
  }
}

private struct ExportedAppending: WholeStage, PublishingStage {
  let stage: Appending

  func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput] {
    try stage.run(context)
  }

  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    [ExportName.stem(of: recordings.first) + ".txt"]
  }

  func publish(_ context: PublishingContext) throws(SpoolError) -> [PublishedFile] {
    guard let artifact = context.outputs[PortName("file")]?.artifact,
      let name = fileNames(of: context.step, recordings: context.names).first
    else { return [] }
    let exports = context.exportFolder
    let source = try context.store.path(of: artifact)
    return [
      try exports.deliver(
        artifact.digest, digest: artifact.digest, to: context.folder + "/" + name,
        of: context.recording, step: context.step, isReplacing: context.isReplacing
      ) { (temporary) throws(SpoolError) in
        try exports.copyFile(from: source, to: temporary)
        return nil
      }
    ]
  }
}

/// Requests a stop when a step is done.
private struct StoppingRecorder: RunRecorder {
  let step: StepID?
  let stop: StopRequest

  func record(_ event: RunEvent) {
    if case .finished(let record) = event, record.id == step { stop.request(signal: 15) }
  }
}

/// A clock that moves only by pauses.
private final class SteppingClock: RunClock {
  private let list = Mutex<[Double]>([])

  /// The pauses so far, in seconds.
  var pauses: [Double] { list.withLock { $0 } }
  var now: Double { 1_800_000_000 + elapsed }
  var elapsed: Double { pauses.reduce(0, +) }
  func jitter() -> Double { 0 }
  func sleep(_ seconds: Double, unless stop: StopRequest) { list.withLock { $0.append(seconds) } }
}

import Foundation
import PipelineEngine
import PipelineModel
import Platform
import Store
import Synchronization
import TestSupport
import Testing

/// A recording, a store, and a pipeline of three stages: each appends its name to a text, and the
/// last exports it.
struct RunnerBench {
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
    try letClockTick(after: scratch.write("a recording", to: "note.m4a"), in: scratch)
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

  /// Has a stage note that it has begun.
  func note(in stage: String) { script.entries.withLock { $0[stage] = [] } }

  /// The notes of earlier attempts that a stage found in each of its attempts.
  func entries(of stage: String) -> [String?] { script.entries.withLock { $0[stage] ?? [] } }

  /// Has something happen whenever a stage runs, before it reads its input.
  func act(in stage: String, _ action: @escaping @Sendable () -> Void) {
    script.actions.withLock { $0[stage] = action }
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
  /// The last entries that stages found, of those that note something.
  let entries = Mutex<[String: [String?]]>([:])
  let actions = Mutex<[String: @Sendable () -> Void]>([:])
  let failures = Mutex<[String: (error: SpoolError, times: Int)]>([:])

  init(clock: SteppingClock) { self.clock = clock }

  func enter(_ kind: String) throws(SpoolError) {
    counts.withLock { $0[kind, default: 0] += 1 }
    actions.withLock { $0[kind] }?()
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
    if script.entries.withLock({ $0[kind] }) != nil {
      let entry = try context.journal.lastEntry()
      script.entries.withLock { $0[kind]?.append(entry?.text) }
      try context.journal.record("begun")
    }
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
final class SteppingClock: RunClock {
  private let list = Mutex<[Double]>([])

  /// The pauses so far, in seconds.
  var pauses: [Double] { list.withLock { $0 } }
  /// When it began, in seconds since 1970.
  let start = Mutex(1_800_000_000.0)
  var now: Double { start.withLock { $0 } + elapsed }
  var elapsed: Double { pauses.reduce(0, +) }
  func jitter() -> Double { 0 }
  func sleep(_ seconds: Double, unless stop: StopRequest) { list.withLock { $0.append(seconds) } }
}

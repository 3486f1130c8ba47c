import Foundation
import PipelineEngine
import PipelineModel
import Platform
import Store
import TestSupport
import Testing

@Suite("A recording that is damaged while it is read")
struct ReplacedRecordingTests {
  @Test(
    "has changed if it was written since, is gone if it was deleted, and else is damaged",
    arguments: [
      (Replacing.nothing, "note.wav is gone"),
      ("half of it", "changed while it was read"), ("a recording", "changed while it was read"),
      (nil, "it is cut off"),
    ])
  func replaced(content: String?, words: String) throws {
    let scratch = try ScratchFolder()
    let path = try scratch.write("a recording", to: "note.wav")
    let out = scratch.file("out")
    try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
    let store = try DiskStore(at: scratch.file("store"))
    let plan = try Plan(
      .sample([.step("open"), .step("count")]), catalog: SampleStages.catalog,
      inputs: ["note": path])
    let runner = Runner(
      store: store, log: store.runs, executors: [Replacing(path: path, content: content)],
      recorder: NoRecorder(), stop: StopRequest(), clock: StoppedClock())
    let failure = try #require(runner.failure(of: plan, into: out))
    let text = failure.error.message + ": " + (failure.error.reason ?? "")
    #expect(text.contains(words), "\(text)")
  }
}

@Suite("A store whose folder is moved away during a run")
struct MovedStoreTests {
  @Test("is named, with what to do")
  func moved() throws {
    let scratch = try ScratchFolder()
    let path = try scratch.write("a recording", to: "note.wav")
    let store = try DiskStore(at: scratch.file("store"))
    let plan = try Plan(
      .sample([.step("open"), .step("count")]), catalog: SampleStages.catalog,
      inputs: ["note": path])
    let runner = Runner(
      store: store, log: store.runs,
      executors: [Replacing(path: path, content: nil, movedStore: store.path)],
      recorder: NoRecorder(), stop: StopRequest(), clock: StoppedClock())
    let failure = try #require(runner.failure(of: plan, into: scratch.path))
    #expect(failure.error.message == "the store \(store.path) is gone")
    #expect(failure.error.advice?.contains("put the folder back") == true)
  }
}

extension Runner {
  /// What a run fails with; nil if it does not.
  fileprivate func failure(of plan: Plan, into folder: String) -> RunError? {
    let request = RunRequest(
      pipelineText: "", folder: folder, isReplacing: false, keepsEverything: false, names: nil)
    return #expect(throws: RunError.self) {
      try run(
        plan, Options(request),
        record: RunRecord(
          id: RunID("1"), pipeline: plan.name, pipelinePath: "/p", inputs: plan.inputs,
          overrides: [:], startedAt: 0, request: request))
    }
  }
}

/// Replaces the recording, and finds it damaged.
private struct Replacing: PassExecutor {
  let family = SampleStages.family
  let path: String
  /// Nil to leave it as it is.
  let content: String?
  /// The store whose folder is renamed; nil for none.
  var movedStore: String?

  /// The content of a recording that is deleted.
  static let nothing: String? = ""

  func run(_ order: PassOrder, in context: PassContext) throws(PassFailure) -> PassOutcome {
    if let movedStore {
      try? FileManager.default.moveItem(atPath: movedStore, toPath: movedStore + "-moved")
    }
    if content == Self.nothing {
      try? FileManager.default.removeItem(atPath: path)
    } else {
      try? content?.write(toFile: path, atomically: true, encoding: .utf8)
    }
    throw PassFailure(
      StepID("open"), SpoolError("decode", path, reason: "it is cut off", cause: .input))
  }

  func probe(_ file: SourceFile) throws(SpoolError) {}

  func estimate(_ order: PassOrder) throws(PassFailure) -> PassEstimate {
    PassEstimate(mediaSeconds: nil, storeByteCount: 0, publishedByteCount: 0, seconds: 0)
  }
}

private struct NoRecorder: RunRecorder {
  func record(_ event: RunEvent) {}
}

private struct StoppedClock: RunClock {
  var now: Double { 0 }
  var elapsed: Double { 0 }
  func jitter() -> Double { 0 }
  func sleep(_ seconds: Double, unless stop: StopRequest) {}
}

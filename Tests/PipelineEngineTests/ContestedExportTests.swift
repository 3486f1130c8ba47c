import Foundation
import PipelineEngine
import PipelineModel
import Platform
import Store
import Synchronization
import TestSupport
import Testing

@Suite("Of two runs at once that want the same export, one gets all of its names")
struct ContestedExportTests {
  private let scratch: ScratchFolder

  init() throws {
    scratch = try ScratchFolder()
    for name in ["out", "a", "b"] {
      try FileManager.default.createDirectory(
        atPath: scratch.file(name), withIntermediateDirectories: true)
    }
    try scratch.write("one recording", to: "a/note.wav")
    try letClockTick(after: scratch.write("another recording", to: "b/note.wav"), in: scratch)
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: scratch.file("out")).sorted() }
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: scratch.file("out/\(name)"), encoding: .utf8)
  }

  private func run(
    _ recording: String, as id: String, in store: DiskStore, exporting names: [String],
    at meeting: Meeting?, isReplacing: Bool = false
  ) throws -> RunRecord {
    let descriptor = StageDescriptor(
      kind: "texts", revision: names.count, summary: "exports several files", discussion: "",
      flow: .whole,
      inputs: [Port(PortName("recording"), .sound, "the file", intake: .recording)],
      outputs: names.map { Port(PortName($0), .file, "a text") }, parameters: [])
    let catalog = StageCatalog([
      StageRegistration(descriptor, libraries: { [:] }) { _ in
        Texts(names: names, meeting: meeting)
      }
    ])
    let plan = try Plan(
      .sample([.step("texts")]), catalog: catalog,
      inputs: ["note": scratch.file("\(recording)/note.wav")])
    let runner = Runner(
      store: store, log: store.runs, executors: [], recorder: NoRecorder(), stop: StopRequest(),
      clock: SteppingClock())
    let request = RunRequest(
      pipelineText: "", folder: scratch.file("out"), isReplacing: isReplacing,
      keepsEverything: false, names: nil)
    return try runner.run(
      plan, Runner.Options(request),
      record: RunRecord(
        id: RunID(id), pipeline: plan.name, pipelinePath: "/p", inputs: plan.inputs,
        overrides: [:], startedAt: 0, request: request))
  }

  /// Runs both recordings at once, each on its thread.
  /// - Returns: the letters of the recordings whose runs succeeded, and the errors of the others.
  private func runBoth(
    _ stores: [String: String], _ names: [String: [String]]
  ) throws -> (done: [String], errors: [RunError]) {
    let meeting = Meeting()
    let results = Mutex<(done: [String], errors: [RunError])>(([], []))
    var threads: [BackgroundThread] = []
    for letter in ["a", "b"] {
      let store = try DiskStore(at: scratch.file(stores[letter] ?? "store"))
      threads.append(
        BackgroundThread(name: letter) {
          do {
            _ = try run(letter, as: letter, in: store, exporting: names[letter] ?? [], at: meeting)
            results.withLock { $0.done.append(letter) }
          } catch let error as RunError {
            results.withLock { $0.errors.append(error) }
          } catch {
            Issue.record(error)
          }
          meeting.leave()
        })
    }
    for thread in threads { thread.join() }
    return results.withLock { $0 }
  }

  @Test(
    "the other one leaves nothing, in one store and in two",
    arguments: [["a": "store", "b": "store"], ["a": "store", "b": "other"]])
  func sameNames(stores: [String: String]) throws {
    // Each publishes first what the other publishes last.
    let (done, errors) = try runBoth(
      stores, ["a": ["one.txt", "two.txt"], "b": ["two.txt", "one.txt"]])
    let winner = try #require(done.first)
    #expect(done.count == 1 && errors.count == 1)
    #expect(errors.first?.error.reason?.contains("no file was replaced") == true, "\(errors)")
    #expect(try names == ["one.txt", "two.txt"])
    let content = winner == "a" ? "one recording" : "another recording"
    for name in try names { #expect(try text(name) == content + ", \(name)") }
  }

  @Test("what the other one has put under names that only it wants is taken back")
  func oneSharedName() throws {
    let (done, errors) = try runBoth(
      [:], ["a": ["only-a.txt", "shared.txt"], "b": ["only-b.txt", "shared.txt"]])
    let winner = try #require(done.first)
    #expect(done.count == 1 && errors.count == 1)
    #expect(try names == ["only-\(winner).txt", "shared.txt"])
    let store = try DiskStore(at: scratch.file("store"))
    let loser = try #require(try store.runs.run(named: winner == "a" ? "b" : "a"))
    #expect(loser.state == .failed && loser.published.isEmpty)
  }

  @Test("a mixed set that was left earlier is refused with what to do, which settles it")
  func leftMixed() throws {
    let store = try DiskStore(at: scratch.file("store"))
    _ = try run("a", as: "1", in: store, exporting: ["one.txt"], at: nil)
    _ = try run("b", as: "2", in: store, exporting: ["two.txt"], at: nil)
    let both = ["one.txt", "two.txt"]
    let refusal = try #require(throws: RunError.self) {
      try run("a", as: "3", in: store, exporting: both, at: nil)
    }
    #expect(refusal.error.advice?.contains("--replace") == true, "\(refusal)")
    let done = try run("a", as: "4", in: store, exporting: both, at: nil, isReplacing: true)
    #expect(done.published.count == 2)
    for name in both { #expect(try text(name) == "one recording, \(name)") }
  }
}

/// Two runs that meet before each of their exports gets its name.
private final class Meeting: Sendable {
  private let arrivals = Mutex<[Int]>([])
  private let hasLeft = Atomic<Bool>(false)

  /// Waits until the other run is to name its export of this turn, too, or has ended.
  func arrive(_ turn: Int) {
    arrivals.withLock { $0.append(turn) }
    while arrivals.withLock({ $0.filter { $0 == turn }.count < 2 }),
      !hasLeft.load(ordering: .relaxed)
    {
      usleep(1000)
    }
  }

  func leave() { hasLeft.store(true, ordering: .relaxed) }
}

/// Exports a text under each name, in their order.
private struct Texts: WholeStage, PublishingStage {
  let names: [String]
  let meeting: Meeting?

  func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput] {
    let recording = context.files[PortName("recording")].flatMap {
      try? String(contentsOfFile: $0.path, encoding: .utf8)
    }
    var outputs: [PortName: StepOutput] = [:]
    for name in names {
      outputs[PortName(name)] = StepOutput(
        try context.store.keep("\(recording ?? ""), \(name)", as: .file))
    }
    return outputs
  }

  func fileNames(of step: StepID, recordings: [String]) -> [String] { names }

  func publish(_ context: PublishingContext) throws(SpoolError) -> [PublishedFile] {
    var files: [PublishedFile] = []
    for (turn, name) in names.enumerated() {
      guard let artifact = context.outputs[PortName(name)]?.artifact else { continue }
      let exports = context.exportFolder
      let source = try context.store.path(of: artifact)
      files.append(
        try exports.deliver(
          artifact.digest, digest: artifact.digest, to: context.folder + "/" + name,
          of: context.recording, step: context.step, isReplacing: context.isReplacing
        ) { (temporary) throws(SpoolError) in
          try exports.copyFile(from: source, to: temporary)
          meeting?.arrive(turn)
          return nil
        })
    }
    return files
  }
}

private struct NoRecorder: RunRecorder {
  func record(_ event: RunEvent) {}
}

import Foundation
import PipelineEngine
import PipelineModel
import Platform
import Store
import Synchronization
import TestSupport
import Testing

@Suite(
  "Room that goes while a pass writes",
  .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
struct RoomWatchTests {
  private let scratch: ScratchFolder
  private let disk: SmallDisk
  private let store: DiskStore
  private let clock = SteppingClock()

  init() throws {
    scratch = try ScratchFolder()
    disk = try SmallDisk(byteCount: 48 << 20)
    store = try DiskStore(at: disk.path + "/store")
    try letClockTick(after: scratch.write("a recording", to: "note.wav"), in: scratch)
  }

  private func run(_ writing: Writing, _ id: String, ignoresRoom: Bool = false) throws -> RunRecord
  {
    let plan = try Plan(
      .sample([.step("open"), .step("count")]), catalog: SampleStages.catalog,
      inputs: ["note": scratch.file("note.wav")])
    let runner = Runner(
      store: store, log: store.runs, executors: [writing], recorder: Unheard(), stop: StopRequest(),
      clock: clock)
    let request = RunRequest(
      pipelineText: "", folder: scratch.path, isReplacing: false, keepsEverything: false, names: nil
    )
    var options = Runner.Options(request)
    options.ignoresRoom = ignoresRoom
    options.resumeCommand = "spool resume \(id)"
    return try runner.run(
      plan, options,
      record: RunRecord(
        id: RunID(id), pipeline: plan.name, pipelinePath: "/p", inputs: plan.inputs,
        overrides: [:], startedAt: 0, request: request))
  }

  @Test("because others take it, ends the pass before the disk is full, and the rest follows")
  func others() throws {
    let other = disk.path + "/other"
    let writing = Writing(clock: clock, reckoned: 20, written: 20) { number in
      guard number == 5 else { return }
      try? Data(count: 34 << 20).write(to: URL(fileURLWithPath: other))
    }
    let failure = try #require(throws: RunError.self) { try run(writing, "1") }
    #expect(failure.error.cause == .fullDisk)
    #expect(
      failure.error.message.contains(/the disk of \S+ is full but for \d+(\.\d)? MB/),
      "\(failure.error)")
    #expect(
      failure.error.why.contains(/still to be written there; the rest of the run needs about/),
      "\(failure.error)")
    #expect(failure.error.advice?.contains("spool resume 1") == true, "\(failure.error)")
    #expect(try store.runs.run(named: "1")?.state == .paused)
    // It stopped at the first look behind the sixth megabyte, and not where nothing was left.
    #expect(writing.count.withLock { $0 } == 6)
    try FileManager.default.removeItem(atPath: other)
    let done = try run(Writing(clock: clock, reckoned: 20, written: 20), "2")
    #expect(done.state == .done)
  }

  @Test("because a pass writes more than was reckoned, ends it before the disk is full")
  func growing() throws {
    let writing = Writing(clock: clock, reckoned: 2, written: 200)
    let failure = try #require(throws: RunError.self) { try run(writing, "1") }
    #expect(failure.error.message.contains("is full but for"), "\(failure.error)")
    #expect((10..<46).contains(writing.count.withLock { $0 }))
    // Where the user wants no looking at the room, the disk itself ends it.
    let second = Writing(clock: clock, reckoned: 2, written: 200)
    let full = try #require(throws: RunError.self) { try run(second, "2", ignoresRoom: true) }
    #expect(full.error.cause == .fullDisk)
    #expect(!full.error.message.contains("but for"), "\(full.error)")
  }
}

/// A pass that writes a megabyte a second.
private final class Writing: PassExecutor {
  let family = SampleStages.family
  /// The megabytes that were written.
  let count = Mutex(0)
  private let clock: SteppingClock
  private let reckoned: Int
  private let written: Int
  private let act: @Sendable (Int) -> Void

  /// What a second gives.
  private static let bytes = [UInt8](repeating: 7, count: 1 << 20)

  /// - Parameters:
  ///   - reckoned: megabytes, beforehand.
  ///   - written: megabytes, if nothing is in the way.
  ///   - act: called before each, with its number.
  init(
    clock: SteppingClock, reckoned: Int, written: Int,
    act: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    self.clock = clock
    self.reckoned = reckoned
    self.written = written
    self.act = act
  }

  func probe(_ file: SourceFile) throws(SpoolError) {}

  func estimate(_ order: PassOrder) throws(PassFailure) -> PassEstimate {
    PassEstimate(
      mediaSeconds: nil, storeByteCount: reckoned << 20, publishedByteCount: 0, seconds: 0)
  }

  func run(_ order: PassOrder, in context: PassContext) throws(PassFailure) -> PassOutcome {
    do throws(SpoolError) {
      let draft = try context.claim.makeDraft("sound", .sound)
      for number in 0..<written {
        act(number)
        try unsafe draft.append(Self.bytes.span.bytes)
        count.withLock { $0 += 1 }
        clock.sleep(1, unless: StopRequest())
        try context.check()
      }
      let artifact = try draft.seal()
      var outcome = PassOutcome(mediaSeconds: 1)
      for step in order.pendingSteps {
        var result = PassOutcome.Result()
        result.identity = artifact.digest
        outcome.results[step.id] = result
      }
      return outcome
    } catch {
      throw PassFailure(StepID("open"), error)
    }
  }
}

private struct Unheard: RunRecorder {
  func record(_ event: RunEvent) {}
}

import Foundation
import Glibc
@testable import Intake
import PipelineEngine
import PipelineModel
import Platform
import Store
import Synchronization
import TestSupport
import Testing

@Suite("A watch's rounds")
struct WatchRoundTests {
  private let bench: RoundBench

  init() throws { bench = try RoundBench() }

  @Test("start a recording once its inbox's waiting commands are known, and record its end")
  func starting() throws {
    var round = try bench.round()
    let key = try bench.takeIn("walk.wav")
    round.turn()
    #expect(round.underWayCount == 0)
    bench.pass(to: &round) { !$0.isOpening }
    round.turn()
    #expect(round.underWayCount == 1)
    #expect(round.summary == "watching 1 inbox, 1 under way")
    bench.passEnd(to: &round)
    #expect(round.underWayCount == 0)
    #expect(try bench.state(of: key) == .uploaded)
    #expect(try String(contentsOfFile: bench.out + "/walk.txt", encoding: .utf8) == "processed")
    bench.drain(&round)
  }

  @Test("work on no more recordings at once than allowed")
  func limit() throws {
    var round = try bench.round()
    for name in ["a.wav", "b.wav", "c.wav"] { try bench.takeIn(name) }
    bench.pass(to: &round) { !$0.isOpening }
    for _ in 1...3 {
      round.turn()
      #expect(round.underWayCount == 1)
      bench.passEnd(to: &round)
    }
    round.turn()
    #expect(round.underWayCount == 0)
    bench.drain(&round)
  }

  @Test("retry a failed recording when its pause is over, by the store's clock")
  func retrying() throws {
    bench.script.withLock { $0 = .failing(times: 1) }
    var round = try bench.round()
    let key = try bench.process("walk.wav", in: &round)
    #expect(try bench.state(of: key) == .failed)
    round.turn()
    #expect(round.underWayCount == 0, "it is not due")
    bench.inbox.time.advance(by: 10)
    round.turn()
    #expect(round.underWayCount == 1)
    bench.passEnd(to: &round)
    #expect(try bench.state(of: key) == .uploaded)
    bench.drain(&round)
  }

  @Test("start nothing while the inbox pauses, however long that lasts, and count no attempt")
  func pausing() throws {
    try FileManager.default.removeItem(atPath: bench.out)
    var round = try bench.round()
    let key = try bench.takeIn("walk.wav")
    bench.pass(to: &round) { $0.summary == "watching 1 inbox, 1 paused" && !$0.isOpening }
    for _ in 1...10 {
      bench.inbox.time.advance(by: 60)
      round.isStirred = true
      round.turn()
      #expect(round.underWayCount == 0)
    }
    let recording = try #require(try bench.store.recordings.recording(key))
    #expect(recording.state == .received && recording.attempts == 0)
    bench.drain(&round)
  }

  @Test("name the step and the recording, not a path of the store, where one fails")
  func failure() throws {
    bench.script.withLock { $0 = .reading }
    var round = try bench.round()
    let key = try bench.process("walk.wav", in: &round)
    let recording = try #require(try bench.store.recordings.recording(key))
    #expect(recording.reason == "take: cannot read walk.wav: it is silent; listen to it")
    bench.drain(&round)
  }

  @Test("read the stored recording itself, known by its name, without a link to it")
  func reading() throws {
    var round = try bench.round()
    let key = try bench.process("walk.wav", in: &round)
    let recording = try #require(try bench.store.recordings.recording(key))
    let seen = try #require(bench.seen.withLock { $0 })
    #expect(seen.file.path == (try bench.store.path(of: recording.content)))
    #expect(seen.links == [])
    let run = try #require(try bench.store.runs.newest(limit: 1).first)
    #expect(run.inputs["note"] == seen.file.name)
    #expect(seen.file.name.hasPrefix(bench.inbox.storeFolder + "/work"))
    #expect(seen.file.name.hasSuffix("/walk.wav"))
    bench.drain(&round)
  }

  @Test("end with every recording at a point from which it resumes")
  func draining() throws {
    bench.script.withLock { $0 = .waiting }
    var round = try bench.round()
    let key = try bench.takeIn("walk.wav")
    bench.pass(to: &round) { !$0.isOpening }
    round.turn()
    bench.drain(&round)
    #expect(round.underWayCount == 0)
    #expect(try bench.state(of: key) == .received)
  }

  @Test("that run out of time record that the watch was cut short, behind all that was reported")
  func cutShort() throws {
    let mayEnd = Pause()
    bench.script.withLock { $0 = .deaf(mayEnd) }
    var round = try bench.round()
    try bench.takeIn("walk.wav")
    bench.pass(to: &round) { !$0.isOpening }
    round.turn()
    let isStopped = round.drain(patience: 0)
    #expect(!isStopped)
    let inbox = try #require(try bench.store.inboxes.watchedInboxes().first)
    #expect(inbox.path == bench.inbox.inbox)
    #expect(inbox.report?.wasCutShort == true)
    mayEnd.end()
    bench.passEnd(to: &round)
  }

  @Test("link inboxes that share a pipeline or an outbox, also those that are added later")
  func linking() throws {
    var settings = WatchSettings(inboxes: [], jobs: 1)
    for name in ["phone", "watch"] {
      settings.inboxes.append(try bench.settings(inbox: "/\(name)", outbox: "/\(name)-outbox"))
    }
    #expect(settings.inboxes.map(\.otherOutboxes) == [["/watch-outbox"], ["/phone-outbox"]])
    settings.inboxes[1].outbox = "/phone-outbox"
    #expect(settings.inboxes.map(\.otherOutboxes) == [[], []])
    #expect(settings.inboxes.map(\.otherPipelines) == [[], []])
  }
}

/// A watch of one inbox, whose pipeline has one stage that a test writes the script for.
private final class RoundBench: Sendable {
  enum Script {
    case passing
    /// Fails so many attempts because something else is missing.
    case failing(times: Int)
    /// Finds the recording silent.
    case reading
    /// Works until it is stopped.
    case waiting
    /// Works until this ends, whatever stops it.
    case deaf(Pause)
  }

  let inbox: ProcessorBench
  let store: DiskStore
  let mail = Mailbox<WatchRound.Action>()
  let script = Mutex(Script.passing)
  /// The file that the stage read, and the symbolic links in the store at that moment.
  let seen = Mutex<(file: SourceFile, links: [String])?>(nil)

  var out: String { inbox.path + "/out" }

  init() throws {
    inbox = try ProcessorBench()
    store = try inbox.store()
    for folder in [inbox.path + "/out", inbox.outbox] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
  }

  /// A round that has begun to watch the inbox.
  func round() throws -> WatchRound {
    let engine = WatchEngine(
      store: store, at: inbox.storeFolder, executors: [], clock: FrozenClock(),
      probe: .init(describe: { _ in nil }, verdict: { _ in .whole }, metadata: { _ in [:] }),
      makeRunID: { RunID(UUID().uuidString) }, record: { _ in })
    var round = WatchRound(engine, mail: mail)
    try round.adopt(
      WatchSettings(inboxes: [try settings(inbox: inbox.inbox, outbox: inbox.outbox)], jobs: 1))
    return round
  }

  func settings(inbox: String, outbox: String) throws -> InboxSettings {
    let pipeline = try WatchedPipeline(
      .sample([.step("take")]), text: "", path: "/p", catalog: catalog, overrides: [:])
    return InboxSettings(
      path: inbox, pipeline: pipeline, out: out, outbox: outbox, recordingRules: InboxRules(),
      rules: StabilityRules())
  }

  @discardableResult
  func takeIn(_ name: String) throws -> RecordingKey {
    let processor = try inbox.processor(store, pipeline: "sample")
    return try #require(
      try processor.takeIn(try inbox.drop("the sound of \(name)", as: name)).recording
    ).key
  }

  /// Takes a recording in, and has a round that has just begun process it once.
  func process(_ name: String, in round: inout WatchRound) throws -> RecordingKey {
    let key = try takeIn(name)
    pass(to: &round) { !$0.isOpening }
    round.turn()
    passEnd(to: &round)
    return key
  }

  func state(of key: RecordingKey) throws -> RecordingState? {
    try store.recordings.recording(key)?.state
  }

  /// Has a round do what the other threads ask, as the watch does, until `isReached`.
  func pass(to round: inout WatchRound, until isReached: (WatchRound) -> Bool) {
    for _ in 1...6000 {
      for action in mail.receive(atMost: .milliseconds(10)) { action(&round) }
      if isReached(round) { return }
    }
    Issue.record("a message is missing")
  }

  /// Ends a round, and expects that everything stopped in time.
  func drain(_ round: inout WatchRound) {
    let isStopped = round.drain(patience: 60)
    #expect(isStopped)
  }

  func passEnd(to round: inout WatchRound) {
    let count = round.underWayCount
    pass(to: &round) { $0.underWayCount < count }
  }

  private var catalog: StageCatalog {
    let descriptor = StageDescriptor(
      kind: "take", revision: 1, summary: "exports a text", discussion: "", flow: .whole,
      inputs: [Port(PortName("recording"), .sound, "the file", intake: .recording)],
      outputs: [Port(PortName("file"), .file, "the text")], parameters: [])
    return StageCatalog([
      StageRegistration(descriptor, libraries: { [:] }) { _ in
        ScriptedStage { [weak self] (context) throws(SpoolError) in try self?.play(context) }
      }
    ])
  }

  private func play(_ context: StageContext) throws(SpoolError) {
    let files = FileManager.default.enumerator(atPath: inbox.storeFolder)?.compactMap {
      $0 as? String
    }
    let links = (files ?? []).filter {
      FilePath.target(ofLink: inbox.storeFolder + "/" + $0) != nil
    }
    if let file = context.files[PortName("recording")] { seen.withLock { $0 = (file, links) } }
    switch script.withLock({ $0 }) {
    case .passing: return
    case .failing(let times):
      script.withLock { $0 = times > 1 ? .failing(times: times - 1) : .passing }
      throw SpoolError("its words are not there yet", cause: .environment)
    case .reading:
      throw SpoolError(
        "read", context.files[PortName("recording")]?.path ?? "", reason: "it is silent",
        advice: "listen to it", cause: .environment)
    case .waiting:
      while (try? context.check()) != nil { usleep(1000) }
      throw .cancelled
    case .deaf(let mayEnd): _ = mayEnd.wait(.seconds(60))
    }
  }
}

private struct ScriptedStage: WholeStage, PublishingStage {
  let play: @Sendable (StageContext) throws(SpoolError) -> Void

  func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput] {
    try play(context)
    return [PortName("file"): StepOutput(try context.store.keep("processed", as: .file))]
  }

  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    [ExportName.stem(of: recordings.first) + ".txt"]
  }

  func publish(_ context: PublishingContext) throws(SpoolError) -> [PublishedFile] {
    var files: [PublishedFile] = []
    for artifact in context.outputs.values.compactMap(\.artifact) {
      let source = try context.store.path(of: artifact)
      for name in fileNames(of: context.step, recordings: context.names) {
        files.append(
          try context.exportFolder.deliver(
            artifact.digest, digest: artifact.digest, to: context.folder + "/" + name,
            of: context.recording, step: context.step, isReplacing: false
          ) { (temporary) throws(SpoolError) in
            try context.exportFolder.copyFile(from: source, to: temporary)
            return nil
          })
      }
    }
    return files
  }
}

/// A clock whose time of day never moves, so that nothing becomes due by itself. Time limits pass.
private struct FrozenClock: RunClock {
  private let start = ContinuousClock.now
  let now = 1_800_000_000.0
  var elapsed: Double { (ContinuousClock.now - start) / .seconds(1) }
  func jitter() -> Double { 0 }
  func sleep(_ seconds: Double, unless stop: StopRequest) {}
}

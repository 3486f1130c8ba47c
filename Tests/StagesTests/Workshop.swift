import Audio
import Foundation
import PipelineEngine
import PipelineModel
import Platform
@testable import SoundEngine
@testable import Stages
import Store
import Synchronization
import TestSupport
import Testing

/// A store, a recording and pipelines to run on it, within this process.
struct Workshop {
  private let scratch: ScratchFolder
  let recording: String

  init(_ sound: TestSound) throws {
    scratch = try ScratchFolder()
    recording = scratch.file("recording.wav")
    try sound.writeWAV(to: recording)
    try FileManager.default.createDirectory(
      atPath: scratch.file("out"), withIntermediateDirectories: true)
  }

  /// Waits until whatever is written to the recording changes its stamp.
  func letClockTick() throws { try TestSupport.letClockTick(after: recording, in: scratch) }

  /// A store of this name, made if it is not there.
  func store(_ name: String) throws -> DiskStore { try DiskStore(at: scratch.file(name)) }

  /// Every block is a moment, so that little sound is enough for many of them.
  static let dense = SoundPassExecutor.Timing(restartPoint: .zero, note: .milliseconds(5))

  /// The digests of what a step keeps or gives, by port, after a run to the end or to where
  /// `recorder` stops it.
  func run(
    _ pipeline: String, in store: DiskStore, watching recorder: EventCount = EventCount(),
    hasRecording: Bool = true, timing: SoundPassExecutor.Timing = dense,
    clock: any RunClock = StoppedClock()
  ) throws -> RunRecord {
    let parsed = ParsedPipeline(pipeline, knownKinds: StageCatalog.builtIn.kinds)
    let definition = try #require(parsed.definition)
    let plan = try Plan(
      definition, catalog: .builtIn, inputs: hasRecording ? ["note": recording] : [:])
    let executor = SoundPassExecutor(coreCount: 2, timing: timing)
    let runner = Runner(
      store: store, log: store.runs, executors: [executor], recorder: recorder, stop: recorder.stop,
      clock: clock)
    return try runner.run(
      plan, Runner.Options(folder: scratch.file("out")),
      record: RunRecord(
        id: RunID("run"), pipeline: plan.name, pipelinePath: "", inputs: plan.inputs,
        overrides: [:], startedAt: 0))
  }
}

/// Counts progress, keeps warnings, and stops the run at a chosen count.
final class EventCount: RunRecorder {
  let stop = StopRequest()
  private let limit: Int
  private let action: @Sendable (Int) -> Void
  private let progress = Mutex(0)
  private let list = Mutex<[String]>([])
  private let place = Mutex<Double?>(nil)

  /// - Parameter action: done whenever progress is told, with how often it was.
  init(stoppingAt limit: Int = .max, _ action: @escaping @Sendable (Int) -> Void = { _ in }) {
    self.limit = limit
    self.action = action
  }

  /// How often progress was told.
  var count: Int { progress.withLock { $0 } }

  /// Where the last pass that was gone on with went on, in seconds of the recording; nil where none was.
  var resumedAt: Double? { place.withLock { $0 } }

  /// What the steps warned of.
  var warnings: [String] { list.withLock { $0 } }

  func record(_ event: RunEvent) {
    if case .warning(_, let text) = event { list.withLock { $0.append(text) } }
    if case .resumed(_, let seconds, _, _) = event { place.withLock { $0 = seconds } }
    guard case .progress = event else { return }
    let count = progress.withLock {
      $0 += 1
      return $0
    }
    action(count)
    if count >= limit { stop.request(signal: SIGTERM) }
  }
}

/// A clock that never moves.
struct StoppedClock: RunClock {
  let now = 0.0
  let elapsed = 0.0
  func jitter() -> Double { 0 }
  func sleep(_ seconds: Double, unless stop: StopRequest) {}
}

/// A clock on which a second passes whenever it is looked at.
final class HurryingClock: RunClock {
  private let looks = Mutex(0.0)

  let now = 0.0
  var elapsed: Double {
    looks.withLock {
      $0 += 1
      return $0
    }
  }
  func jitter() -> Double { 0 }
  func sleep(_ seconds: Double, unless stop: StopRequest) {}
}

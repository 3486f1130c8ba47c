import Audio
import PipelineEngine
import PipelineModel
import Platform
@testable import SoundEngine
@testable import Stages
import Store
import Synchronization
import TestSupport
import Testing

@Suite struct LoudnessTrialTests {
  private let scratch: ScratchFolder
  private let store: DiskStore

  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("store"))
  }

  /// Two and a half stretches of speech-like bursts that a limiter has much to do with, and a
  /// click right before each seam, whose release lasts beyond it.
  private func talk(_ format: AudioFormat) -> TestSound {
    let rate = Int(format.sampleRate.value)
    var sound = TestSound.babble(amplitude: 0.5, format, frames: 75 * rate + 123)
    for seam in [30 * rate, 60 * rate] {
      for channel in sound.channels.indices {
        for frame in seam - 20..<seam - 10 { sound.channels[channel][frame] = 0.99 }
      }
    }
    return sound
  }

  private struct Failure: Error {}

  private func keep(_ sound: TestSound) throws -> PCMArtifact {
    guard case .granted(let claim) = try store.claim(SHA256.digest(of: "test"), summary: "test")
    else { throw Failure() }
    defer { claim.end() }
    let work = ListenerWork(claim: claim, name: "kept", resuming: nil)
    let writer = try PCMArtifact.Writer(sound.format, port: .sound, work: work)
    try writer.take(SharedBuffer(sound.buffer(0..<sound.frameCount.count)))
    return try PCMArtifact(try #require(try writer.finish().artifacts[.sound]), in: store)
  }

  /// The loudness behind the real thing: everything in one stream.
  private func loudness(_ sound: TestSound, behind decision: NormalizeStage.Decision) throws -> LUFS
  {
    let meter = LoudnessMeter(format: sound.format)
    sound.processed(by: decision.makeProcessor(for: sound.format)).analysed(by: meter)
    return try #require(meter.finding().integrated)
  }

  private let decision = NormalizeStage.Decision(gain: Decibels(9), ceiling: Decibels(-3))

  @Test(arguments: [(8000.0, 2), (11_025, 1), (44_100, 1)])
  func `a trial hears what the pass will give`(rate: Double, channelCount: Int) throws {
    let sound = talk(AudioFormat(sampleRate: Hertz(rate), channelCount: channelCount))
    let trial = LoudnessTrial(decision: decision, sound: try keep(sound), check: {})
    let reached = try #require(try trial.run(on: WorkerPool(threadCount: 2)).integrated())
    #expect(abs(reached.value - (try loudness(sound, behind: decision)).value) < 0.001)
    // The limiter takes enough away that leaving it out would show.
    let gained = NormalizeStage.Decision(gain: decision.gain, ceiling: nil)
    #expect(try loudness(sound, behind: gained).value - reached.value > 0.5)
  }

  @Test func `the number of threads makes no difference`() throws {
    let sound = try keep(talk(AudioFormat(sampleRate: Hertz(8000), channelCount: 2)))
    let trial = LoudnessTrial(decision: decision, sound: sound, check: {})
    let alone = try trial.run(on: WorkerPool(threadCount: 1))
    #expect(alone.count == 750)
    #expect(try trial.run(on: WorkerPool(threadCount: 5)) == alone)
  }

  @Test(arguments: [0, 1, 799, 800])
  func `sound of less than a step, and of one, has no loudness`(frames: Int) throws {
    let format = AudioFormat(sampleRate: Hertz(8000), channelCount: 1)
    let trial = LoudnessTrial(
      decision: decision, sound: try keep(.noise(format, frames: frames)), check: {})
    let history = try trial.run(on: WorkerPool(threadCount: 2))
    #expect(history.count == frames / 800)
    #expect(history.integrated() == nil)
  }

  @Test func `a request to stop ends every stretch`() throws {
    let sound = try keep(talk(AudioFormat(sampleRate: Hertz(8000), channelCount: 2)))
    let count = Count()
    let trial = LoudnessTrial(decision: decision, sound: sound) { () throws(SpoolError) in
      if count.next() > 10 { throw SpoolError("stopped") }
    }
    #expect(throws: SpoolError.self) { try trial.run(on: WorkerPool(threadCount: 2)) }
    // The two that were under way were refused once each, and those that waited, once.
    #expect(count.next() <= 10 + 3 + 1)
  }

  @Test func `the gain that is settled on reaches the loudness`() throws {
    let sound = talk(AudioFormat(sampleRate: Hertz(8000), channelCount: 2))
    let before = LoudnessMeter(format: sound.format)
    sound.analysed(by: before)
    let start = try #require(before.finding().integrated)
    let search = LoudnessSearch(
      wanted: LUFS(-12), ceiling: Decibels(-1), sound: try keep(sound),
      pool: WorkerPool(threadCount: 2), check: {})
    let (gain, reached) = try search.settle(
      from: Decibels(-12 - start.value), noting: SearchProgress(resuming: nil))
    let real = try loudness(
      sound, behind: NormalizeStage.Decision(gain: gain, ceiling: Decibels(-1)))
    #expect(abs(real.value + 12) < 0.05)
    #expect(abs(real.value - reached.value) < 0.05)
  }
}

/// Counts the calls from several threads.
private final class Count: Sendable {
  private let value = Mutex(0)

  func next() -> Int {
    value.withLock {
      $0 += 1
      return $0
    }
  }
}

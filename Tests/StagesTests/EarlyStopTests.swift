import Audio
import PipelineEngine
import PipelineModel
import Platform
@testable import SoundEngine
@testable import Stages
import TestSupport
import Testing

/// Passes that are stopped before the clock has given occasion to note anything.
@Suite struct EarlyStopTests {
  /// Nothing is done by this clock in the time of a test.
  private static let never = SoundPassExecutor.Timing(
    restartPoint: .seconds(3600), note: .seconds(3600))

  private static let pipeline = """
    pipeline: early
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - compress: { threshold: -30 dB, ratio: 4 }
      - export: { formats: [wav] }
    """

  @Test func `a pass that is stopped early goes on near where it was`() throws {
    let sound = TestSound(
      AudioFormat(sampleRate: Hertz(48000), channelCount: 1), frames: 40 * 48000
    ) { _, frame in Float(frame % 109) / 109 - 0.5 }
    let workshop = try Workshop(sound)
    let store = try workshop.store("stopped")
    // Three steps tell of every eighth block: by then at least eight are written, 2.7 s.
    let stopped = EventCount(stoppingAt: 11)
    #expect(throws: RunError.self) {
      try workshop.run(Self.pipeline, in: store, watching: stopped, timing: Self.never)
    }
    let resumed = EventCount()
    let record = try workshop.run(
      Self.pipeline, in: store, watching: resumed, timing: Self.never)
    // Half of what was written at least.
    #expect(try #require(resumed.resumedAt) >= 1.3)
    let undisturbed = try workshop.run(Self.pipeline, in: workshop.store("undisturbed"))
    #expect(record.steps.last?.outputs == undisturbed.steps.last?.outputs)
  }

  @Test func `a pass that takes too long names the step with the timeout`() throws {
    let sound = TestSound(
      AudioFormat(sampleRate: Hertz(48000), channelCount: 1), frames: 20 * 48000
    ) { _, frame in Float(frame % 109) / 109 - 0.5 }
    let workshop = try Workshop(sound)
    let failure = try #require(throws: RunError.self) {
      try workshop.run(
        """
        pipeline: late
        inputs: { note: sound }
        stages:
          - decode: { from: $note }
            timeout: 1 h
          - gain: -1 dB
            timeout: 2 s
          - export: { formats: [wav] }
        """, in: workshop.store("late"), clock: HurryingClock())
    }
    #expect(failure.step == StepID("gain"))
    #expect(failure.error.message == "gave up after 2 s")
    #expect(failure.error.advice == "raise the timeout of gain")
  }
}

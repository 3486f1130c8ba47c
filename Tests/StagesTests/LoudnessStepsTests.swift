import AudioModel
import Testing

@testable import Stages

@Suite struct LoudnessStepsTests {
  /// A limiter that takes more the harder it is driven: each decibel of gain brings less than the
  /// one before.
  private func reached(_ gain: Decibels, start: Double, slope: Double, bend: Double) -> LUFS {
    LUFS(start + slope * gain.value - bend * gain.value * gain.value)
  }

  @Test(arguments: [
    (-16.02, 0.95, 0.0, 1), (-16.1, 0.95, 0.01, 1), (-16.1, 0.7, 0.01, 1),
    (-16.3, 0.6, 0.02, 2), (-16.6, 0.9, 0.02, 2), (-17.5, 0.8, 0.03, 3), (-19.0, 0.7, 0.02, 4),
  ])
  func `the search ends near the target within a few trials`(
    start: Double, slope: Double, bend: Double, most: Int
  ) {
    var steps = LoudnessSteps(wanted: LUFS(-16), unlimited: Decibels(0))
    var trials = 0
    while !steps.isSettled {
      steps.take(reached(steps.gain, start: start, slope: slope, bend: bend))
      trials += 1
    }
    let end = reached(steps.gain, start: start, slope: slope, bend: bend)
    #expect(abs(end.value + 16) < 0.05)
    #expect(trials <= most)
  }

  @Test func `a target that cannot be reached does not send the gain to infinity`() {
    var steps = LoudnessSteps(wanted: LUFS(-5), unlimited: Decibels(3))
    var trials = 0
    while !steps.isSettled {
      steps.take(LUFS(-20))
      trials += 1
    }
    #expect(steps.gain == Decibels(15))
    #expect(trials <= 5)
  }

  @Test func `sound that is loud enough already is not driven below its own gain`() {
    var steps = LoudnessSteps(wanted: LUFS(-16), unlimited: Decibels(-4))
    steps.take(LUFS(-15.9))
    #expect(steps.isSettled)
    #expect(steps.gain == Decibels(-4))
  }
}

import Audio
import Foundation
@testable import Stages
import Testing

@Suite struct LoudnessStepsTests {
  /// A limiter that takes more the harder it is driven: each decibel of gain brings less than the
  /// one before.
  private func reached(_ gain: Decibels, start: Double, slope: Double, bend: Double) -> LUFS {
    LUFS(start + slope * gain.value - bend * gain.value * gain.value)
  }

  @Test(arguments: [
    (-16.02, 0.95, 0.0, 1), (-16.1, 0.95, 0.01, 2), (-16.1, 0.7, 0.01, 2),
    (-16.3, 0.6, 0.02, 2), (-16.6, 0.9, 0.02, 2), (-17.5, 0.8, 0.03, 4), (-19.0, 0.7, 0.02, 4),
    (-17.8, 0.43, 0.01, 3), (-18.5, 0.45, 0.01, 3),
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

  /// What a limiter gives back of ever more gain, which comes to an end: at most `room` more. The
  /// first decibel brings `room / knee`, which is at most one.
  private func saturated(_ gain: Decibels, start: Double, room: Double, knee: Double) -> LUFS {
    LUFS(start + room * (1 - exp(-gain.value / knee)))
  }

  @Test(arguments: stride(from: 1.0, through: 4, by: 0.2).map { $0 })
  func `what is told is what the gain reaches, however far away that is`(bluntness: Double) {
    for room in stride(from: 0.5, through: 10, by: 0.25) {
      let knee = room * bluntness
      var steps = LoudnessSteps(wanted: LUFS(-14), unlimited: Decibels(0))
      var trials = 0
      while !steps.isSettled {
        steps.take(saturated(steps.gain, start: -18, room: room, knee: knee))
        trials += 1
      }
      let end = saturated(steps.gain, start: -18, room: room, knee: knee)
      #expect(abs(end.value - steps.expected.value) < 0.05)
      #expect(trials <= 8)
      // How much another decibel would bring there.
      let slope = room / knee * exp(-steps.gain.value / knee)
      #expect(abs(end.value + 14) < 0.1 || slope < 0.2)
    }
  }

  @Test func `a limiter that gives nothing back any more is not driven`() {
    var steps = LoudnessSteps(wanted: LUFS(-5), unlimited: Decibels(3))
    while !steps.isSettled { steps.take(LUFS(-20)) }
    #expect(steps.gain == Decibels(3) && steps.expected == LUFS(-20))
  }

  @Test func `sound that is loud enough already is not driven below its own gain`() {
    var steps = LoudnessSteps(wanted: LUFS(-16), unlimited: Decibels(-4))
    steps.take(LUFS(-15.9))
    #expect(steps.isSettled)
    #expect(steps.gain == Decibels(-4))
  }
}

import AudioModel
import Testing

@testable import Stages

@Suite struct LoudnessLineTests {
  /// A limiter that takes more the harder it is driven: from `unlimited` on, each decibel of gain
  /// gives less than the one before.
  private func reached(_ gain: Decibels, start: Double, bend: Double) -> LUFS {
    let extra = gain.value
    return LUFS(start + extra - bend * extra * extra)
  }

  @Test(arguments: [(-16.2, 0.01), (-17.0, 0.02), (-18.5, 0.03), (-16.02, 0.0)])
  func `the search ends near the target within a few rounds`(start: Double, bend: Double) {
    var line = LoudnessLine(wanted: LUFS(-16), unlimited: Decibels(0))
    var rounds = 0
    var isOver = false
    while !isOver, rounds < 4 {
      let (low, high) = line.trials
      isOver = line.settle(
        reached(low, start: start, bend: bend), reached(high, start: start, bend: bend))
      rounds += 1
    }
    #expect(isOver)
    #expect(abs(reached(line.gain, start: start, bend: bend).value + 16) < 0.05)
  }

  @Test func `a target that cannot be reached does not send the gain to infinity`() {
    var line = LoudnessLine(wanted: LUFS(-5), unlimited: Decibels(3))
    let isOver = line.settle(LUFS(-20), LUFS(-20))
    #expect(isOver)
    #expect(line.gain == Decibels(15))
  }

  @Test func `sound that is loud enough already is not driven below its own gain`() {
    var line = LoudnessLine(wanted: LUFS(-16), unlimited: Decibels(-4))
    let isOver = line.settle(LUFS(-15.9), LUFS(-15.2))
    #expect(isOver)
    #expect(line.gain == Decibels(-4))
  }
}

import Audio
import TestSupport
import Testing

@Suite struct GainTests {
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  @Test func `keeps the promises of a processor`() throws {
    try checkProcessorConformance { Gain(Decibels(-7.5), format: $0) }
    try checkProcessorConformance(channelCounts: 1...2) { Gain(Decibels(0), format: $0) }
  }

  @Test func `0 dB leaves every bit as it is`() {
    var sound = TestSound.noise(stereo, frames: 1000)
    sound.channels[0][10] = -0.0
    sound.channels[1][20] = .leastNonzeroMagnitude
    #expect(sound.processed(by: Gain(Decibels(0), format: stereo)).isBitIdentical(to: sound))
  }

  @Test(arguments: [(-6.0206, 0.5), (20, 10), (-120, 1e-6)])
  func `multiplies by ten to the twentieth of the gain`(gain: Double, factor: Double) {
    let result = TestSound.constant(0.25, stereo, frames: 100)
      .processed(by: Gain(Decibels(gain), format: stereo))
    #expect(abs(Double(result.channels[1][50]) / (0.25 * factor) - 1) < 1e-5)
  }

  @Test func `absurd gains stay numbers`() {
    for gain in [1e9, -1e9] {
      let result = TestSound.square(half: 3, stereo, frames: 20)
        .processed(by: Gain(Decibels(gain), format: stereo))
      #expect(result.isFinite)
    }
  }

  @Test(arguments: [0.1, 3, 6.0206, 12, 24, 60, 119.9])
  func `up and down again, a sample is off by two units in its last place at most`(gain: Double) {
    let sound = TestSound.noise(seed: 3, stereo, frames: 20_000)
    for first in [gain, -gain] {
      let result = sound.processed(by: Gain(Decibels(first), format: stereo))
        .processed(by: Gain(Decibels(-first), format: stereo))
      var worst: Float = 0
      for (mine, others) in zip(sound.channels, result.channels) {
        for (a, b) in zip(mine, others) { worst = max(worst, (a - b).magnitude / a.ulp) }
      }
      #expect(worst <= 2, "\(worst) units")
    }
  }

  @Test func `a sound and its inverse behind the same gain leave nothing`() {
    let sound = TestSound.noise(seed: 3, stereo, frames: 5000)
    let (one, other) = (
      sound.processed(by: Gain(Decibels(-7.3), format: stereo)),
      sound.map { -$0 }.processed(by: Gain(Decibels(-7.3), format: stereo))
    )
    for channel in 0...1 {
      #expect(zip(one.channels[channel], other.channels[channel]).allSatisfy { $0 + $1 == 0 })
    }
  }
}

import AudioModel
import DSP
import Testing
import TestSupport

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
}

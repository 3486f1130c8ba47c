import Audio
import TestSupport
import Testing

@Suite struct OffsetTests {
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  @Test func `keep the promises of a processor and of an analyser`() throws {
    // Silence becomes the offset's negative.
    try checkProcessorConformance(isSilent: false) {
      OffsetRemover(offsets: [0.1, -0.02, 0], format: $0)
    }
    try checkAnalyserConformance { OffsetRemover.Meter(format: $0) }
  }

  @Test func `the mean of whole periods is the offset, and it is gone afterwards`() {
    let offsets: [Float] = [0.125, -0.03]
    var sound = TestSound.sine(Hertz(1000), amplitude: 0.5, stereo, frames: 48_000)
    for channel in 0...1 {
      sound.channels[channel] = sound.channels[channel].map { $0 + offsets[channel] }
    }
    let meter = OffsetRemover.Meter(format: stereo)
    sound.analysed(by: meter, cuts: [777, 4096])
    for channel in 0...1 {
      #expect(abs(meter.finding()[channel] - Double(offsets[channel])) < 1e-8)
    }
    let result = sound.processed(by: OffsetRemover(offsets: meter.finding(), format: stereo))
    for channel in result.channels {
      #expect(abs(channel.reduce(0) { $0 + Double($1) } / 48_000) < 1e-8)
    }
    let pure = TestSound.sine(Hertz(1000), amplitude: 0.5, stereo, frames: 48_000)
    #expect(result.greatestDifference(from: pure) < 1e-7)
  }

  @Test func `an offset of zero changes no bit`() {
    let sound = TestSound.noise(stereo, frames: 3000)
    let result = sound.processed(by: OffsetRemover(offsets: [0, 0], format: stereo))
    #expect(result.isBitIdentical(to: sound))
  }
}

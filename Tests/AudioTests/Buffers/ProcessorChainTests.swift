import Audio
import TestSupport
import Testing

@Suite struct ProcessorChainTests {
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  private func processors(_ format: AudioFormat) -> [any Processor] {
    [
      Limiter(.init(ceiling: Decibels(-2)), format: format),
      Equalizer(bands: [EqualizerBand(.highPass, frequency: Hertz(80))], format: format),
      Gain(Decibels(3), format: format),
      Limiter(.init(ceiling: Decibels(-1), lookAhead: Seconds(0.002)), format: format),
    ]
  }

  @Test func `keeps the promises of a processor`() throws {
    try checkProcessorConformance(channelCounts: 1...1) {
      ProcessorChain(processors($0), format: $0)
    }
    try checkProcessorConformance(channelCounts: 1...1) { ProcessorChain([], format: $0) }
  }

  @Test func `gives what its processors give one after the other`() {
    let sound = TestSound.babble(stereo, frames: 7000)
    let chain = ProcessorChain(processors(stereo), format: stereo)
    let expected = processors(stereo).reduce(sound) { $0.processed(by: $1) }
    let result = sound.processed(by: chain, cuts: [3000, 1, 2047])
    #expect(result.firstDifference(from: expected) == nil)
  }

  @Test func `refuses a snapshot of another chain`() {
    let longer = ProcessorChain(processors(stereo), format: stereo)
    let shorter = ProcessorChain([Gain(Decibels(1), format: stereo)], format: stereo)
    #expect(throws: SnapshotError.self) { try shorter.restore(longer.snapshot) }
    #expect(throws: SnapshotError.self) { try longer.restore(shorter.snapshot) }
  }
}

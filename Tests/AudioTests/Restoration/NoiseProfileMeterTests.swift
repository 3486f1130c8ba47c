@testable import Audio
import Foundation
import TestSupport
import Testing

@Suite struct NoiseProfileMeterTests {
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  private func finding(_ sound: TestSound) -> NoiseProfile.Meter.Finding {
    let meter = NoiseProfile.Meter(format: sound.format)
    sound.analysed(by: meter)
    return meter.finding()
  }

  @Test func `keeps the promises of an analyser`() throws {
    try checkAnalyserConformance { NoiseProfile.Meter(format: $0) }
  }

  @Test(arguments: [8000.0, 44_100, 48_000, 192_000])
  func `learns white noise as the closed form has it`(rate: Double) throws {
    let format = AudioFormat(sampleRate: Hertz(rate), channelCount: 1)
    let sound = TestSound.noise(amplitude: 0.1, format, frames: Int(rate))
    let noise = try #require(finding(sound).noise)
    let expected = 0.01 / 3 * Double(SpectralWindow(sampleRate: Hertz(rate)).length) / 2
    let mean = noise.spectra[0].reduce(0) { $0 + Double($1) } / Double(noise.spectra[0].count)
    #expect(abs(10 * log10(mean / expected)) < 0.3)
    #expect(abs(noise.level.value - 10 * log10(0.01 / 3)) < 0.2)
  }

  @Test func `finds the quietest place, and passes over digital silence`() throws {
    // Loud, quiet from 2 s to 3 s, nothing at all from 4 s to 5 s.
    var sound = TestSound.noise(amplitude: 0.3, stereo, frames: 6 * 48_000)
    for channel in 0...1 {
      for frame in 96_000..<144_000 { sound.channels[channel][frame] *= 0.01 }
      for frame in 192_000..<240_000 { sound.channels[channel][frame] = 0 }
    }
    let noise = try #require(finding(sound).noise)
    #expect((2.0...2.6).contains(noise.start.value))
    #expect(abs(noise.level.value - 10 * log10(0.003 * 0.003 / 3)) < 0.3)
  }

  @Test func `silence and a moment hold no noise to learn`() {
    #expect(finding(.silence(stereo, frames: 96_000)).noise == nil)
    #expect(finding(.noise(stereo, frames: 9600)).noise == nil)
    #expect(finding(.silence(stereo, frames: 96_000)).level == nil)
  }
}

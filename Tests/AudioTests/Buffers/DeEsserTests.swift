import Audio
import Foundation
import TestSupport
import Testing

@Suite struct DeEsserTests {
  private static let rate = 48_000.0
  private let mono = AudioFormat(sampleRate: Hertz(rate), channelCount: 1)
  private let stereo = AudioFormat(sampleRate: Hertz(rate), channelCount: 2)
  private let settings = DeEsser.Settings(threshold: Decibels(-30), range: Decibels(12))
  private let centre = (5000.0 * 9000).squareRoot()

  @Test func `keeps the promises of a processor`() throws {
    try checkProcessorConformance { DeEsser(settings, format: $0) }
  }

  /// The level by which a settled tone is changed.
  private func change(_ frequency: Double, level: Double, _ settings: DeEsser.Settings) -> Double {
    let sound = TestSound.sine(
      Hertz(frequency), amplitude: pow(10, level / 20), mono, frames: 48_000)
    let result = sound.processed(by: DeEsser(settings, format: mono))
    let settled = 24_000..<47_000
    return result[settled].rms(ofChannel: 0).value - sound[settled].rms(ofChannel: 0).value
  }

  @Test(arguments: [-40.0, -24, -20, -14, -3])
  func `a tone in the middle of the band follows the curve, down to the range`(level: Double) {
    let over = level + 30
    let expected = over < -3 ? 0 : min(0.75 * over, 12)
    // The samples of so high a tone seldom meet its crests, and the smoothing lies under them.
    let change = change(centre, level: level, settings)
    #expect(change <= -0.9 * expected + 0.02 && change >= -expected - 0.02)
  }

  @Test(arguments: [200.0, 1000, 3000, 5000, 9000, 14_000])
  func `beside the band, the bell of the reduction is all that acts`(frequency: Double) {
    // The law hears the tone through the band-pass, and lowers the bell by so much.
    let q = centre / 4000
    let w = tan(.pi * frequency / Self.rate) / tan(.pi * centre / Self.rate)
    let bend = w - 1 / w
    let heard = -6 - 10 * log10(1 + q * q * bend * bend)
    let over = heard + 30
    let reduction = over < -3 ? 0 : over <= 3 ? 0.75 * pow(over + 3, 2) / 12 : 0.75 * over
    let gain = pow(10, -min(reduction, 12) / 20)
    // |1 + (g − 1) · H| for the band-pass H = 1 / (1 + j q bend).
    let x = q * bend
    let bell = 10 * log10((gain * gain + x * x) / (1 + x * x))
    #expect(abs(change(frequency, level: -6, settings) - bell) < 0.15)
  }

  @Test func `without sharp sounds every bit stays`() {
    let sound = TestSound.sine(Hertz(400), amplitude: 0.3, stereo, frames: 20_000)
    let steady = DeEsser(settings, format: stereo)
    let result = sound.processed(by: steady)
    // The onset of the tone is sharp; what follows is not.
    #expect(result[12_000..<20_000].greatestDifference(from: sound[12_000..<20_000]) < 1e-6)
    let quiet = TestSound.noise(amplitude: 0.005, stereo, frames: 20_000)
    #expect(quiet.processed(by: DeEsser(settings, format: stereo)).isBitIdentical(to: quiet))
  }

  @Test func `tells how far it lowered the band`() {
    let deEsser = DeEsser(settings, format: mono)
    let sound = TestSound.sine(
      Hertz(centre), amplitude: pow(10, -20.0 / 20), mono, frames: 96_000)
    _ = sound.processed(by: deEsser)
    #expect((0.9 * 7.5...7.5).contains(deEsser.report().greatest.value))
    #expect(deEsser.report().activeShare > 0.99)
  }
}

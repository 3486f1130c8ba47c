import Audio
import Foundation
import TestSupport
import Testing

/// The minimum requirements on a true-peak meter, EBU Tech 3341, cases 15 to 23, with signals made
/// after their descriptions. All allow +0.2 and −0.4 dB.
@Suite struct TruePeakRequirementTests {
  private static let rate = 48_000.0
  private static let stereo = AudioFormat(sampleRate: Hertz(rate), channelCount: 2)

  private func peak(of sound: TestSound) throws -> Double {
    let meter = TruePeakMeter(format: sound.format)
    sound.analysed(by: meter)
    let levels = LevelMeter(format: sound.format)
    sound.analysed(by: levels)
    let peak = try #require(meter.finding().truePeak)
    #expect(levels.finding().truePeak == peak)
    return peak.value
  }

  /// Tones of a whole fraction of the rate, of which the samples are the same in every period: what
  /// lies between them is never among them.
  @Test(arguments: [
    (15, 4.0, 0.0, 0.50, -6.0), (16, 4, 45, 0.50, -6), (17, 6, 60, 0.50, -6),
    (18, 8, 67.5, 0.50, -6), (19, 4, 45, 1.41, 3),
  ])
  func `cases 15 to 19 are tones between whose samples the peak lies`(
    number: Int, divisor: Double, degrees: Double, amplitude: Double, target: Double
  ) throws {
    var sound = TestSound.sine(
      Hertz(Self.rate / divisor), amplitude: amplitude, phase: degrees * .pi / 180, Self.stereo,
      frames: 48_000)
    // Faded: a tone that begins at once overshoots, and that is its true peak then.
    for frame in 0..<480 {
      let gain = Float(0.5 - 0.5 * cos(.pi * Double(frame) / 480))
      for channel in 0...1 {
        sound.channels[channel][frame] *= gain
        sound.channels[channel][47_999 - frame] *= gain
      }
    }
    let peak = try peak(of: sound)
    #expect(peak <= target + 0.2 && peak >= target - 0.4, "case \(number): \(peak) dBTP")
  }

  /// In the manner of cases 20 to 23: a wave made at four times the rate, of which every fourth
  /// sample is kept, beginning with the first, the second, the third or the fourth. Wherever the
  /// samples fall, the wave is the same one.
  @Test(arguments: 0...3, [4.0, 6])
  func `cases 20 to 23 are one wave, sampled at four places`(
    offset: Int, divisor: Double
  ) throws {
    /// A tone of half the full scale, which swells to it for a few periods; the swell is so slow
    /// that nothing reaches half the rate.
    func wave(_ frame: Int) -> Double {
      let time = Double(frame) / 4
      let place = (time - 24_000) / 400
      let swell = abs(place) < 1 ? 0.25 + 0.25 * cos(.pi * place) : 0
      return (0.5 + swell) * sin(2 * .pi * time / divisor + 0.5 * .pi / divisor)
    }
    let samples = (0..<48_000).map { frame in
      let edge = 0.5 - 0.5 * cos(.pi * Double(min(frame, 47_999 - frame, 480)) / 480)
      return Float(edge * wave(4 * frame + offset))
    }
    let top = (95_000..<97_000).reduce(0) { max($0, abs(wave($1))) }
    let target = 20 * log10(top)
    #expect(abs(target) < 0.4)
    let peak = try peak(of: TestSound(sampleRate: Hertz(Self.rate), channels: [samples, samples]))
    #expect(peak <= target + 0.2 && peak >= target - 0.4, "\(peak) dBTP instead of \(target)")
  }
}

import Audio
import Foundation
import TestSupport
import Testing

/// What the resampler adds and lets through, as a spectrum analyser sees it. The figures stand in
/// `Figures.md`.
@Suite struct ResamplerSpectrumTests {
  private static let changes = [(44_100.0, 48_000.0), (48_000, 44_100), (96_000, 44_100)]

  private func resampled(
    _ sound: TestSound, to rate: Double, _ quality: Resampler.Quality
  ) -> TestSound {
    sound.processed(
      by: Resampler(to: Hertz(rate), quality: quality, format: sound.format), cuts: [8192])
  }

  private func mono(_ rate: Double) -> AudioFormat {
    AudioFormat(sampleRate: Hertz(rate), channelCount: 1)
  }

  @Test func `the analyser sees what is there`() {
    let tone = TestSound.sine(Hertz(1000), amplitude: 0.5, mono(48_000), frames: 65_536)
    let faint = TestSound.sine(Hertz(7321), amplitude: 1e-6, mono(48_000), frames: 65_536)
    let both = TestSound(
      sampleRate: Hertz(48_000), channels: [zip(tone.channels[0], faint.channels[0]).map(+)])
    let spectrum = PowerSpectrum(both, count: 65_536)
    #expect(abs(spectrum.level(at: Hertz(1000)).value + 6.02) < 0.01)
    #expect(abs(spectrum.level(at: Hertz(7321)).value + 120) < 0.2)
    #expect(abs(spectrum.rest(besides: Hertz(1000)).value + 114) < 0.2)
    // Nothing but the rounding of floats elsewhere.
    let elsewhere = spectrum.highest(from: Hertz(9000), to: Hertz(24_000), within: Hertz(0))
    #expect(elsewhere.value < -165)
  }

  @Test(arguments: changes)
  func `a tone of 1 kHz comes out with nothing beside it`(old: Double, new: Double) {
    let sound = TestSound.sine(
      Hertz(1000), amplitude: pow(10, -1 / 20), mono(old), frames: Int(2 * old))
    for (quality, limit) in [(Resampler.Quality.quick, -98.0), (.high, -124), (.best, -134)] {
      let spectrum = PowerSpectrum(resampled(sound, to: new, quality), from: 8000, count: 65_536)
      let rest = spectrum.rest(besides: Hertz(1000)).value
      #expect(rest < limit, "\(rest) dB")
    }
  }

  /// The response to an impulse is the filter, sampled: its transform is the filter's response.
  @Test(arguments: changes)
  func `the band is flat to the thousandth of a decibel`(old: Double, new: Double) {
    for (quality, limit) in [(Resampler.Quality.quick, 0.0003), (.high, 1e-4), (.best, 1e-4)] {
      let sound = TestSound.impulse(mono(old), frames: Int(old / 5), at: Int(old / 10))
      let response = resampled(sound, to: new, quality)
      let top = min(old, new) / 2 * quality.bandwidth
      let levels = stride(from: 0.0, through: top, by: top / 400).map {
        response.spectrum(ofChannel: 0, at: Hertz($0)).value + 20 * log10(old / new)
      }
      let ripple = levels.reduce(0) { max($0, abs($1)) }
      #expect(ripple < limit, "\(ripple) dB")
    }
  }

  @Test func `of a sweep beyond the new band nothing is left`() {
    // From above the new half rate up to the old one, at full scale; it comes and goes so smoothly
    // that nothing of it lies below.
    let (old, new) = (96_000.0, 44_100.0)
    let seconds = 2.0
    let sound = TestSound(mono(old), frames: Int(old * seconds)) { _, frame in
      let time = Double(frame) / old
      let (low, high) = (new / 2 + 1000, old / 2 - 1000)
      let phase = 2 * .pi * (low * time + (high - low) * time * time / (2 * seconds))
      let edge = FadeCurve.sCurve.gain(at: min(time, seconds - time, 0.3) / 0.3)
      return Float(edge * edge * edge * sin(phase))
    }
    for (quality, limit) in [(Resampler.Quality.quick, -97.0), (.high, -122), (.best, -128)] {
      let peak = resampled(sound, to: new, quality).peak.value
      #expect(peak < limit, "\(peak) dB")
    }
  }

  @Test(arguments: changes)
  func `a sweep through the band casts no images`(old: Double, new: Double) {
    let seconds = 4.0
    let top = min(old, new) / 2 * 0.9
    let sound = TestSound(mono(old), frames: Int(old * seconds)) { _, frame in
      let time = Double(frame) / old
      let edge = FadeCurve.sCurve.gain(at: min(time, seconds - time, 0.1) / 0.1)
      return Float(edge * sin(.pi * top * time * time / seconds))
    }
    let result = resampled(sound, to: new, .high)
    var worst = -Double.infinity
    for start in stride(from: 8192, to: result.frameCount.count - 20_000, by: 8192) {
      let spectrum = PowerSpectrum(result, from: start, count: 8192)
      let now = top * (Double(start) + 4096) / new / seconds
      // While the window lasts, the sweep moves on.
      let moved = top / seconds * 8192 / new / 2 + 20 * new / 8192
      worst = max(
        worst,
        spectrum.highest(
          from: Hertz(0), to: Hertz(new / 2), besides: Hertz(now), within: Hertz(moved)
        ).value)
    }
    #expect(worst < -125, "\(worst) dB")
  }
}

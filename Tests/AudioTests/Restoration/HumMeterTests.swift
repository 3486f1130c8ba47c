import Audio
import Foundation
import TestSupport
import Testing

@Suite struct HumMeterTests {
  private func format(_ rate: Double) -> AudioFormat {
    AudioFormat(sampleRate: Hertz(rate), channelCount: 1)
  }

  /// A voice, faint noise, and hum of six harmonics 40 dB down and falling.
  private func voice(hum frequency: Double?, rate: Double, seconds: Double = 12) -> TestSound {
    let frames = Int(rate * seconds)
    var sound = TestSound.babble(amplitude: 0.5, format(rate), frames: frames)
    guard let frequency else { return sound }
    for harmonic in 1...6 {
      let amplitude = 0.01 / Double(harmonic)
      let tone = TestSound.sine(
        Hertz(frequency * Double(harmonic)), amplitude: amplitude, phase: Double(harmonic),
        format(rate), frames: frames)
      for frame in 0..<frames { sound.channels[0][frame] += tone.channels[0][frame] }
    }
    return sound
  }

  private func spectrum(of sound: TestSound) -> HumSpectrum {
    let meter = HumSpectrum.Meter(format: sound.format)
    sound.analysed(by: meter)
    return meter.finding()
  }

  @Test func `keeps the promises of an analyser`() throws {
    try checkAnalyserConformance { HumSpectrum.Meter(format: $0) }
  }

  @Test(arguments: [
    (50.0, 48_000.0), (49.96, 44_100), (50.3, 8000), (60, 16_000), (59.93, 192_000), (50.1, 22_050),
  ])
  func `finds the hum's frequency to two hundredths of a hertz`(frequency: Double, rate: Double) {
    let spectrum = spectrum(of: voice(hum: frequency, rate: rate))
    let near = frequency < 55 ? 50.0 : 60
    let found = spectrum.hum(near: Hertz(near), harmonics: 6)
    #expect(abs((found?.frequency.value ?? 0) - frequency) < 0.02)
    #expect(spectrum.hum(near: Hertz(110 - near), harmonics: 6) == nil)
  }

  @Test(arguments: [48_000.0, 11_025])
  func `finds none where there is none`(rate: Double) {
    let sounds = [
      voice(hum: nil, rate: rate),
      TestSound.noise(amplitude: 0.1, format(rate), frames: Int(rate * 30)),
      TestSound.silence(format(rate), frames: Int(rate * 5)),
    ]
    for sound in sounds {
      for mains in [50.0, 60] {
        #expect(spectrum(of: sound).hum(near: Hertz(mains), harmonics: 6) == nil)
      }
    }
  }

  @Test func `too little sound is not telling`() {
    let short = spectrum(of: voice(hum: 50, rate: 48_000, seconds: 1))
    #expect(!short.isTelling)
    #expect(short.hum(near: Hertz(50), harmonics: 4) == nil)
  }

  @Test func `notches where the lines were found take them out and leave the voice`() throws {
    let (clean, humming) = (voice(hum: nil, rate: 48_000), voice(hum: 50.04, rate: 48_000))
    let hum = try #require(spectrum(of: humming).hum(near: Hertz(50), harmonics: 6))
    let bands = (1...6).map {
      EqualizerBand(
        .notch, frequency: Hertz(hum.frequency.value * Double($0)), q: 20 * Double($0))
    }
    let result = humming.processed(by: Equalizer(bands: bands, format: humming.format))
    // What is left of the lines, against the same voice through the same notches.
    let reference = clean.processed(by: Equalizer(bands: bands, format: clean.format))
    let settled = 96_000..<576_000
    func residue(_ a: TestSound, _ b: TestSound) -> Double {
      var difference = a[settled]
      difference.channels[0] = zip(a[settled].channels[0], b[settled].channels[0]).map(-)
      return difference.rms(ofChannel: 0).value
    }
    #expect(residue(result, reference) < residue(humming, clean) - 25)
  }
}

@testable import Audio
import Foundation
import TestSupport
import Testing

@Suite struct EqualizerTests {
  private static let bands = [
    EqualizerBand(.highPass, frequency: Hertz(80)),
    EqualizerBand(.peak, frequency: Hertz(3200), gain: Decibels(3), q: 0.9),
    EqualizerBand(.highShelf, frequency: Hertz(9000), gain: Decibels(1.5)),
    EqualizerBand(.lowShelf, frequency: Hertz(200), gain: Decibels(-4)),
    EqualizerBand(.notch, frequency: Hertz(50), q: 10),
    EqualizerBand(.lowPass, frequency: Hertz(16_000)),
  ]

  @Test(arguments: [(1, 1...2), (4, 1...3), (5, 1...8)])
  func `keeps the promises of a processor`(bandCount: Int, channelCounts: ClosedRange<Int>) throws {
    try checkProcessorConformance(channelCounts: channelCounts) {
      Equalizer(bands: Array(Self.bands.prefix(bandCount)), format: $0)
    }
  }

  @Test(arguments: EqualizerBand.Shape.allCases, [44_100.0, 48_000, 192_000])
  func `responds as the closed form says, within 0.05 dB`(
    shape: EqualizerBand.Shape, rate: Double
  ) {
    let bands = [
      EqualizerBand(shape, frequency: Hertz(1000), gain: Decibels(6)),
      EqualizerBand(shape, frequency: Hertz(12_000), gain: Decibels(-9), q: 2),
    ]
    let format = AudioFormat(sampleRate: Hertz(rate), channelCount: 1)
    for band in bands {
      let response = TestSound.impulse(format, frames: 2048)
        .processed(by: Equalizer(bands: [band], format: format))
      for step in 0...20 {
        let frequency = Hertz(20 * pow(1000, Double(step) / 20))
        let expected = Analogue(band, rate: rate).response(at: frequency.value)
        // Float samples end near −140 dB: what a notch lets through at its centre is no number.
        guard expected > -100 else { continue }
        let measured = response.spectrum(ofChannel: 0, at: frequency).value
        #expect(abs(measured - expected) < 0.05, "\(shape) at \(frequency.value) Hz")
        let promised = band.response(at: frequency, sampleRate: Hertz(rate)).value
        #expect(abs(promised - expected) < 1e-6, "\(shape) at \(frequency.value) Hz")
      }
    }
  }

  @Test(arguments: [1, 2, 3, 8], [1, 3, 4, 9])
  func `gives the bits of a plain cascade of biquads`(channelCount: Int, bandCount: Int) {
    let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: channelCount)
    let bands = (0..<bandCount).map { Self.bands[$0 % Self.bands.count] }
    let sound = TestSound.noise(format, frames: 700)
    let result = sound.processed(by: Equalizer(bands: bands, format: format))
    var expected = sound
    for channel in expected.channels.indices {
      var filters = bands.map { PlainBiquad(BiquadCoefficients($0, sampleRate: Hertz(48_000))) }
      expected.channels[channel] = sound.channels[channel].map { sample in
        var value = Double(sample)
        for index in filters.indices { value = filters[index].next(value) }
        return Float(value)
      }
    }
    #expect(result.greatestDifference(from: expected) == 0)
  }

  @Test func `any number of channels comes through side by side`() {
    let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 64)
    let mono = AudioFormat(sampleRate: Hertz(48_000), channelCount: 1)
    let sound = TestSound.noise(format, frames: 300)
    let result = sound.processed(by: Equalizer(bands: Self.bands, format: format))
    for channel in [0, 31, 62, 63] {
      let alone = TestSound(sampleRate: Hertz(48_000), channels: [sound.channels[channel]])
        .processed(by: Equalizer(bands: Self.bands, format: mono))
      #expect(alone.channels[0] == result.channels[channel])
    }
  }

  @Test func `no bands change nothing`() {
    let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)
    let sound = TestSound.noise(format, frames: 300)
    #expect(sound.processed(by: Equalizer(bands: [], format: format)).isBitIdentical(to: sound))
  }

  @Test func `absurd bands give finite sound`() {
    let format = AudioFormat(sampleRate: Hertz(8000), channelCount: 2)
    for shape in EqualizerBand.Shape.allCases {
      for (frequency, gain, q) in [(1e9, 40.0, 1.0), (-5, -1e6, 1e9), (0, 40, -3), (4000, 0, 0)] {
        let band = EqualizerBand(
          shape, frequency: Hertz(frequency), gain: Decibels(gain), q: q)
        let result = TestSound.noise(format, frames: 2000)
          .processed(by: Equalizer(bands: [band], format: format))
        #expect(result.isFinite, "\(shape) \(frequency) \(gain) \(q)")
      }
    }
  }

  @Test func `a filter that rings out falls silent`() {
    let format = AudioFormat(sampleRate: Hertz(8000), channelCount: 1)
    let band = EqualizerBand(.peak, frequency: Hertz(1000), gain: Decibels(6), q: 1)
    let result = TestSound.impulse(format, frames: 4000)
      .processed(by: Equalizer(bands: [band], format: format))
    #expect(result.channels[0].suffix(1000).allSatisfy { $0 == 0 })
  }
}

/// A band as an analogue filter seen through the bilinear transform: an independent way to the
/// response, which knows no digital coefficients.
private struct Analogue {
  let band: EqualizerBand
  let rate: Double

  init(_ band: EqualizerBand, rate: Double) { (self.band, self.rate) = (band, rate) }

  func response(at frequency: Double) -> Double {
    // s = jΩ, with the frequency bent as the transform bends it and the corner at 1.
    let w = tan(.pi * frequency / rate) / tan(.pi * band.frequency.value / rate)
    let a = pow(10, band.gain.value / 40)
    let q = band.q
    typealias Polynomial = (Double, Double, Double)  // s², s, 1
    let (top, bottom): (Polynomial, Polynomial) =
      switch band.shape {
      case .peak: ((1, a / q, 1), (1, 1 / (a * q), 1))
      case .lowShelf:
        ((a, a * a.squareRoot() / q, a * a), (a, a.squareRoot() / q, 1))
      case .highShelf:
        ((a * a, a * a.squareRoot() / q, a), (1, a.squareRoot() / q, a))
      case .highPass: ((1, 0, 0), (1, 1 / q, 1))
      case .lowPass: ((0, 0, 1), (1, 1 / q, 1))
      case .notch: ((1, 0, 1), (1, 1 / q, 1))
      }
    func magnitude(_ p: Polynomial) -> Double { hypot(p.2 - p.0 * w * w, p.1 * w) }
    return 20 * log10(magnitude(top) / magnitude(bottom))
  }
}

/// One biquad in the transposed direct form II, sample by sample.
private struct PlainBiquad {
  let c: BiquadCoefficients
  var (s1, s2) = (0.0, 0.0)

  init(_ coefficients: BiquadCoefficients) { c = coefficients }

  mutating func next(_ x: Double) -> Double {
    let y = c.b0 * x + s1
    s1 = (c.b1 * x + s2) - c.a1 * y
    s2 = c.b2 * x - c.a2 * y
    return y
  }
}

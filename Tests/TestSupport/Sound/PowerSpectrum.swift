package import Audio
import Glibc

/// The power of a stretch of sound at each frequency, as an analyser in a laboratory shows it.
///
/// The window is Kaiser's with β = 18, whose side lobes stay 170 dB below a line, and the transform
/// is in double precision: what is seen down to −150 dB is in the sound.
package struct PowerSpectrum: Sendable {
  /// From one bin to the next.
  package let binWidth: Hertz
  /// For each bin from 0 Hz to half the rate, its power; summed over a line, that of a sine of
  /// amplitude 1 is 1.
  package let powers: [Double]

  /// A line is this many bins wide on each side.
  package static let reach = 8
  private static let beta = 18.0

  /// Analyses `count` frames of a channel from `start` on; `count` is a power of two.
  /// O(count log count).
  package init(_ sound: TestSound, channel: Int = 0, from start: Int = 0, count: Int) {
    precondition(count > 1 && count & (count - 1) == 0)
    let samples = sound.channels[channel][start..<start + count]
    var real = Array(repeating: 0.0, count: count)
    var imaginary = real
    var energy = 0.0
    for (index, sample) in samples.enumerated() {
      let place = 2 * (Double(index) + 0.5) / Double(count) - 1
      let weight = Self.besselI0(Self.beta * (1 - place * place).squareRoot())
      real[index] = Double(sample) * weight
      energy += weight * weight
    }
    Self.transform(&real, &imaginary)
    // Half of a sine's power lies at the negative frequency; a sine of amplitude 1 has 1/2.
    let scale = 4 / (Double(count) * energy)
    powers = (0...count / 2).map {
      (real[$0] * real[$0] + imaginary[$0] * imaginary[$0]) * scale
    }
    binWidth = Hertz(sound.format.sampleRate.value / Double(count))
  }

  /// The power of a line, relative to a sine of amplitude 1.
  package func level(at frequency: Hertz) -> Decibels {
    Decibels(10 * log10(sum(around(frequency))))
  }

  /// All power that is not at a line, against that at the line: with a pure tone given, total
  /// harmonic distortion and noise.
  package func rest(besides frequency: Hertz) -> Decibels {
    let line = sum(around(frequency))
    return Decibels(10 * log10(max(sum(0..<powers.count) - line, 1e-30) / line))
  }

  /// The greatest power of a bin in a band, but for what lies within `distance` of a frequency.
  package func highest(
    from low: Hertz, to high: Hertz, besides frequency: Hertz? = nil, within distance: Hertz
  ) -> Decibels {
    let bins = bin(low)...min(bin(high), powers.count - 1)
    let highest = bins.reduce(1e-30) { greatest, bin in
      let away = frequency.map { abs(Double(bin) * binWidth.value - $0.value) } ?? .infinity
      return away > distance.value ? max(greatest, powers[bin]) : greatest
    }
    return Decibels(10 * log10(highest))
  }

  private func bin(_ frequency: Hertz) -> Int { Int((frequency.value / binWidth.value).rounded()) }

  private func around(_ frequency: Hertz) -> Range<Int> {
    max(bin(frequency) - Self.reach, 0)..<min(bin(frequency) + Self.reach + 1, powers.count)
  }

  private func sum(_ bins: Range<Int>) -> Double { powers[bins].reduce(0, +) }

  /// The discrete Fourier transform in place (Cooley and Tukey 1965, radix 2).
  static func transform(_ real: inout [Double], _ imaginary: inout [Double]) {
    let count = real.count
    var place = 0
    for index in 1..<count {
      var bit = count / 2
      while place & bit != 0 {
        place ^= bit
        bit /= 2
      }
      place |= bit
      if index < place {
        real.swapAt(index, place)
        imaginary.swapAt(index, place)
      }
    }
    var length = 2
    while length <= count {
      for offset in 0..<length / 2 {
        let angle = -2 * Double.pi * Double(offset) / Double(length)
        let (c, s) = (cos(angle), sin(angle))
        for a in stride(from: offset, to: count, by: length) {
          let b = a + length / 2
          let (x, y) = (
            real[b] * c - imaginary[b] * s, real[b] * s + imaginary[b] * c
          )
          (real[b], imaginary[b]) = (real[a] - x, imaginary[a] - y)
          (real[a], imaginary[a]) = (real[a] + x, imaginary[a] + y)
        }
      }
      length *= 2
    }
  }

  /// The modified Bessel function of the first kind and order 0, by its power series.
  private static func besselI0(_ x: Double) -> Double {
    var (sum, term, n) = (1.0, 1.0, 1.0)
    while term > sum * 1e-17 {
      term *= x * x / (4 * n * n)
      sum += term
      n += 1
    }
    return sum
  }
}

@testable import Audio
import Foundation

extension EqualizerBand {
  /// The exact magnitude response at `frequency` for sound of `sampleRate`; −∞ at a zero.
  func response(at frequency: Hertz, sampleRate: Hertz) -> Decibels {
    BiquadCoefficients(self, sampleRate: sampleRate).response(
      atRadians: 2 * .pi * frequency.value / sampleRate.value)
  }
}

extension BiquadCoefficients {
  /// The magnitude response at a frequency in radians a sample.
  func response(atRadians angle: Double) -> Decibels {
    // In powers of φ = sin²(ω/2), as the cookbook's author gives it, which keeps its precision at
    // low frequencies where cosines would cancel.
    let phi = sin(angle / 2) * sin(angle / 2)
    func power(_ c0: Double, _ c1: Double, _ c2: Double) -> Double {
      let sum = c0 + c1 + c2
      return sum * sum - 4 * (c0 * c1 + 4 * c0 * c2 + c1 * c2) * phi + 16 * c0 * c2 * phi * phi
    }
    return Decibels(amplitude: (max(power(b0, b1, b2), 0) / power(1, a1, a2)).squareRoot())
  }
}

import AudioModel
import Glibc

/// The two filters of K-weighting, ITU-R BS.1770-4, annex 1, for any sample rate.
///
/// The recommendation gives coefficients at 48 kHz only. Frequencies, gains and qualities are those
/// of the analogue filters whose bilinear transforms they are, as libebur128 has them too.
extension BiquadCoefficients {
  /// The first: a shelf that lifts what lies above 1.7 kHz by 4 dB, as a head does.
  static func headShelf(sampleRate: Hertz) -> BiquadCoefficients {
    let k = warped(1681.974450955533, sampleRate)
    let q = 0.7071752369554196
    let top = Decibels(3.999843853973347).amplitude
    let middle = pow(top, 0.4996667741545416)
    let a0 = 1 + k / q + k * k
    return BiquadCoefficients(
      b0: (top + middle * k / q + k * k) / a0,
      b1: 2 * (k * k - top) / a0,
      b2: (top - middle * k / q + k * k) / a0,
      a1: 2 * (k * k - 1) / a0,
      a2: (1 - k / q + k * k) / a0)
  }

  /// The second, called RLB: a high-pass at 38 Hz. Its gain is not normalised, as in the
  /// recommendation.
  static func lowCut(sampleRate: Hertz) -> BiquadCoefficients {
    let k = warped(38.13547087602444, sampleRate)
    let q = 0.5003270373238773
    let a0 = 1 + k / q + k * k
    return BiquadCoefficients(
      b0: 1, b1: -2, b2: 1, a1: 2 * (k * k - 1) / a0, a2: (1 - k / q + k * k) / a0)
  }

  /// tan(ω/2), for a corner below half the sample rate.
  private static func warped(_ frequency: Double, _ sampleRate: Hertz) -> Double {
    tan(.pi * min(frequency / sampleRate.value, 0.499))
  }
}

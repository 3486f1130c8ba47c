import Glibc

/// An interpolating low-pass filter: a Kaiser-windowed sinc as a function of time, from which the
/// taps of each phase are read.
///
/// For sample rate conversion, length and shape follow Kaiser's formulas (Oppenheim and Schafer,
/// Discrete-Time Signal Processing, 7.5.3): β = 0.1102 (A − 8.7), and (A − 7.95) / (14.36 Δf) taps
/// for an attenuation of A dB, over 50, and a transition of Δf cycles a sample.
struct KaiserSinc {
  /// Taps on each side of a point; for rate conversion a multiple of 8, to fill whole vectors.
  let reach: Int
  private let cutOff: Double
  private let beta: Double

  /// A filter of given length and window with its cutoff at half the sample rate.
  init(reach: Int, beta: Double) {
    self.reach = reach
    self.beta = beta
    cutOff = 0.5
  }

  /// A filter for samples at `inputRate` that passes the band below `bandwidth` times half the
  /// lower rate, and attenuates what lies above half the lower rate by `attenuation` dB.
  init(inputRate: Double, outputRate: Double, bandwidth: Double, attenuation: Double) {
    let nyquist = min(inputRate, outputRate) / inputRate / 2
    let transition = nyquist * (1 - bandwidth)
    let taps = (attenuation - 7.95) / (14.36 * transition)
    reach = (Int((taps / 2).rounded(.up)) + 7) / 8 * 8
    cutOff = nyquist * (1 + bandwidth) / 2
    beta = 0.1102 * (attenuation - 8.7)
  }

  /// The taps of the point `fraction` of the way from one sample to the next; the first belongs to
  /// the sample `reach` − 1 before the point's own. Their sum is 1.
  func taps(_ fraction: Double) -> [Double] {
    let taps = (0..<2 * reach).map { index in
      let distance = Double(index - reach + 1) - fraction
      let angle = 2 * .pi * cutOff * distance
      let sinc = angle == 0 ? 1 : sin(angle) / angle
      let place = distance / Double(reach)
      return sinc * KaiserSinc.besselI0(beta * max(1 - place * place, 0).squareRoot())
    }
    let sum = taps.reduce(0, +)
    return taps.map { $0 / sum }
  }

  /// The modified Bessel function of the first kind of order 0, by its power series.
  private static func besselI0(_ x: Double) -> Double {
    var (sum, term, n) = (1.0, 1.0, 1.0)
    repeat {
      term *= x * x / (4 * n * n)
      sum += term
      n += 1
    } while term > sum * 1e-17
    return sum
  }
}

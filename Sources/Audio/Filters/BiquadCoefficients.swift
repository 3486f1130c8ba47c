import Glibc

/// A second-order filter, normalised to a₀ = 1: y[n] = b₀x[n] + b₁x[n−1] + b₂x[n−2] − a₁y[n−1] −
/// a₂y[n−2].
struct BiquadCoefficients: Hashable {
  var b0, b1, b2, a1, a2: Double

  /// The identity filter.
  static let identity = BiquadCoefficients(b0: 1, b1: 0, b2: 0, a1: 0, a2: 0)
}

extension BiquadCoefficients {
  /// The cookbook's filter for a band.
  init(_ band: EqualizerBand, sampleRate: Hertz) {
    let frequency = min(max(band.frequency.value, 0.01), 0.499 * sampleRate.value)
    let angle = 2 * .pi * frequency / sampleRate.value
    let cosine = cos(angle)
    let alpha = sin(angle) / (2 * min(max(band.q, 0.01), 1000))
    // The cookbook's A: the square root of the amplitude ratio.
    let a = Decibels(min(max(band.gain.value, -120), 120) / 2).amplitude

    switch band.shape {
    case .peak:
      self.init(
        numerator: (1 + alpha * a, -2 * cosine, 1 - alpha * a),
        denominator: (1 + alpha / a, -2 * cosine, 1 - alpha / a))
    case .lowShelf:
      self.init(shelfWithGain: a, cosine: cosine, alpha: alpha)
    case .highShelf:
      // The mirror image: the cosine and the odd coefficients change sign.
      self.init(shelfWithGain: a, cosine: -cosine, alpha: alpha)
      b1 = -b1
      a1 = -a1
    case .highPass:
      // (1 + cos ω) / 2 in a form that does not cancel near half the sample rate.
      let half = cos(angle / 2) * cos(angle / 2)
      self.init(
        numerator: (half, -2 * half, half), denominator: (1 + alpha, -2 * cosine, 1 - alpha))
    case .lowPass:
      // (1 − cos ω) / 2 in a form that does not cancel at low frequencies.
      let half = sin(angle / 2) * sin(angle / 2)
      self.init(
        numerator: (half, 2 * half, half), denominator: (1 + alpha, -2 * cosine, 1 - alpha))
    case .notch:
      self.init(
        numerator: (1, -2 * cosine, 1), denominator: (1 + alpha, -2 * cosine, 1 - alpha))
    }
  }

  /// The cookbook's band-pass with a gain of 1 at its centre. x + (g − 1) · bandpass(x) is a bell of
  /// gain g.
  init(bandPass centre: Hertz, q: Double, sampleRate: Hertz) {
    let frequency = min(max(centre.value, 0.01), 0.499 * sampleRate.value)
    let angle = 2 * .pi * frequency / sampleRate.value
    let alpha = sin(angle) / (2 * min(max(q, 0.01), 1000))
    self.init(
      numerator: (alpha, 0, -alpha), denominator: (1 + alpha, -2 * cos(angle), 1 - alpha))
  }

  private init(shelfWithGain a: Double, cosine: Double, alpha: Double) {
    let slope = 2 * a.squareRoot() * alpha
    self.init(
      numerator: (
        a * (a + 1 - (a - 1) * cosine + slope),
        2 * a * (a - 1 - (a + 1) * cosine),
        a * (a + 1 - (a - 1) * cosine - slope)
      ),
      denominator: (
        a + 1 + (a - 1) * cosine + slope,
        -2 * (a - 1 + (a + 1) * cosine),
        a + 1 + (a - 1) * cosine - slope
      ))
  }

  private init(
    numerator b: (Double, Double, Double), denominator a: (Double, Double, Double)
  ) {
    self.init(b0: b.0 / a.0, b1: b.1 / a.0, b2: b.2 / a.0, a1: a.1 / a.0, a2: a.2 / a.0)
  }
}

/// The two filters of K-weighting, ITU-R BS.1770-4, annex 1, for any sample rate.
///
/// The recommendation gives coefficients at 48 kHz only. Frequencies, gains and Q are those of the
/// analogue filters whose bilinear transforms they are, as in libebur128.
extension BiquadCoefficients {
  /// Stage 1: a shelf of +4 dB above 1.7 kHz, which models the head.
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

  /// Stage 2 (RLB): a high-pass at 38 Hz. Its gain is not normalised, as in the recommendation.
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

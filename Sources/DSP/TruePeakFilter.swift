import AudioModel
import Glibc

/// A filter that finds points of the analogue wave between samples: a sinc under Kaiser's window,
/// for a number of points a frame.
///
/// How sharply it ends at half the sample rate is a matter of its length and of the window's β; the
/// wave it shows differs accordingly where sound reaches so far up.
struct TruePeakFilter {
  /// Points a frame, at least 2.
  let factor: Int
  /// A point depends on this many samples on each side.
  let reach: Int
  /// The shape of the window: more is flatter within the band and wider at its end.
  let beta: Double

  /// The greatest sum of |tap| of a phase: no point exceeds this times the greatest sample.
  private let worstGain: Float
  /// What the filter adds to a straight line between two samples, at most, for each unit of the
  /// greatest second difference.
  private let curvatureGain: Float
  /// The same for each unit of the greatest sample: what is no second difference, a trifle.
  private let residualGain: Float

  /// Computes what the filter can do at most.
  init(factor: Int, reach: Int, beta: Double) {
    (self.factor, self.reach, self.beta) = (factor, reach, beta)
    var (worst, curvature, residual) = (0.0, 0.0, 0.0)
    for phase in 1..<factor {
      let fraction = Double(phase) / Double(factor)
      let taps = Self.taps(fraction, reach: reach, beta: beta)
      worst = max(worst, taps.reduce(0) { $0 + abs($1) })
      let split = Self.split(taps, fraction, reach: reach)
      curvature = max(curvature, split.curvature)
      residual = max(residual, split.residual)
    }
    // A little more, for the rounding of the taps and sums in 32 bits.
    worstGain = Float(max(worst, 1)) * 1.000_01
    curvatureGain = Float(curvature) * 1.000_01
    residualGain = 1 + Float(residual) + 1e-5
  }

  /// The 2 · `reach` taps for a point `phase` / `factor` of the way from one sample to the next;
  /// the first belongs to the sample `reach` − 1 before the point's own. Their sum is 1.
  func taps(phase: Int) -> [Double] {
    Self.taps(Double(phase) / Double(factor), reach: reach, beta: beta)
  }

  /// What no point of a group can exceed, from the extents of that group and its neighbours; it is
  /// no longer than the filter's reach.
  func bound(_ extent: GroupExtent) -> Float {
    min(
      worstGain * extent.peak,
      residualGain * extent.peak + curvatureGain * extent.curvature)
  }
}

extension TruePeakFilter {
  private static func taps(_ fraction: Double, reach: Int, beta: Double) -> [Double] {
    let taps = (0..<2 * reach).map { index in
      let distance = Double(index - reach + 1) - fraction
      let sinc = sin(.pi * distance) / (.pi * distance)
      let place = distance / Double(reach)
      return sinc * besselI0(beta * max(1 - place * place, 0).squareRoot())
    }
    let sum = taps.reduce(0, +)
    return taps.map { $0 / sum }
  }

  /// Splits a filter into a straight line between the two middle samples, a filter of second
  /// differences, and a rest that corrects the first moment; gives the sums of |tap| of the last
  /// two. Sound without much treble has small second differences, so its peaks are bounded well.
  private static func split(
    _ taps: [Double], _ fraction: Double, reach: Int
  ) -> (curvature: Double, residual: Double) {
    var rest = taps
    rest[reach - 1] -= 1 - fraction
    rest[reach] -= fraction
    let moment = rest.enumerated().reduce(0) { $0 + Double($1.offset) * $1.element }
    rest[reach - 1] += moment
    rest[reach] -= moment
    // Summed twice, what has neither sum nor moment becomes weights of second differences.
    var (sum, weight, curvature) = (0.0, 0.0, 0.0)
    for tap in rest {
      sum += tap
      weight += sum
      curvature += abs(weight)
    }
    return (curvature, 2 * abs(moment))
  }

  /// The modified Bessel function of the first kind and order 0, by its power series.
  private static func besselI0(_ x: Double) -> Double {
    var (sum, term) = (1.0, 1.0)
    for index in 1...40 {
      let factor = x / (2 * Double(index))
      term *= factor * factor
      sum += term
    }
    return sum
  }
}

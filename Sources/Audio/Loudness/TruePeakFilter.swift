/// An interpolation filter for true peaks: a sinc under Kaiser's window with `factor` points a
/// frame.
///
/// Length and β determine how sharply it ends at half the sample rate, and thus the reading for
/// sound that reaches that far.
struct TruePeakFilter {
  /// Points a frame, at least 2.
  let factor: Int
  private let sinc: KaiserSinc

  /// The greatest sum of
  /// tap
  ///  of a phase: no point exceeds this times the greatest sample.
  private let worstGain: Float
  /// The greatest deviation from a straight line between two samples, per unit of the greatest
  /// second difference.
  private let curvatureGain: Float
  /// The remaining deviation, per unit of the greatest sample; small.
  private let residualGain: Float

  /// - Parameter beta: the shape of the window: higher is wider at the band edge and has lower
  ///   ripple.
  init(factor: Int, reach: Int, beta: Double) {
    self.factor = factor
    sinc = KaiserSinc(reach: reach, beta: beta)
    var (worst, curvature, residual) = (0.0, 0.0, 0.0)
    for phase in 1..<factor {
      let fraction = Double(phase) / Double(factor)
      let taps = sinc.taps(fraction)
      worst = max(worst, taps.reduce(0) { $0 + abs($1) })
      let split = Self.split(taps, fraction, reach: reach)
      curvature = max(curvature, split.curvature)
      residual = max(residual, split.residual)
    }
    // A margin for the rounding of taps and sums in 32 bits.
    worstGain = Float(max(worst, 1)) * 1.000_01
    curvatureGain = Float(curvature) * 1.000_01
    residualGain = 1 + Float(residual) + 1e-5
  }

  /// The 2 · `reach` taps of the point `phase` / `factor` of the way from one sample to the next;
  /// the first belongs to the sample `reach` − 1 before the point's own. Their sum is 1.
  func taps(phase: Int) -> [Double] { sinc.taps(Double(phase) / Double(factor)) }

  /// Samples on each side of a point that it depends on.
  var reach: Int { sinc.reach }

  /// An upper bound for all points of a group, from the bounds of that group and its neighbours; a
  /// group is at most as long as the reach.
  func bound(_ extent: GroupExtent) -> Float {
    min(
      worstGain * extent.peak,
      residualGain * extent.peak + curvatureGain * extent.curvature)
  }

  /// Splits a filter into a straight line between the two middle samples, a filter of second
  /// differences, and a remainder that corrects the first moment; returns the sums of
  /// tap
  ///  of the last two. Sound with little treble has small second differences, so its bound is
  /// tight.
  private static func split(
    _ taps: [Double], _ fraction: Double, reach: Int
  ) -> (curvature: Double, residual: Double) {
    var rest = taps
    rest[reach - 1] -= 1 - fraction
    rest[reach] -= fraction
    let moment = rest.enumerated().reduce(0) { $0 + Double($1.offset) * $1.element }
    rest[reach - 1] += moment
    rest[reach] -= moment
    // Summed twice, a sequence with zero sum and moment becomes weights of second differences.
    var (sum, weight, curvature) = (0.0, 0.0, 0.0)
    for tap in rest {
      sum += tap
      weight += sum
      curvature += abs(weight)
    }
    return (curvature, 2 * abs(moment))
  }
}

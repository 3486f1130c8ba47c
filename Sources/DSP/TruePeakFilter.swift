import AudioModel

/// A filter that finds points of the analogue wave between samples: a sinc under Kaiser's window,
/// for a number of points a frame.
///
/// How sharply it ends at half the sample rate is a matter of its length and of the window's β; the
/// wave it shows differs accordingly where sound reaches so far up.
struct TruePeakFilter {
  /// Points a frame, at least 2.
  let factor: Int
  private let sinc: KaiserSinc

  /// The greatest sum of |tap| of a phase: no point exceeds this times the greatest sample.
  private let worstGain: Float
  /// What the filter adds to a straight line between two samples, at most, for each unit of the
  /// greatest second difference.
  private let curvatureGain: Float
  /// The same for each unit of the greatest sample: what is no second difference, a trifle.
  private let residualGain: Float

  /// Computes what the filter can do at most.
  /// - Parameter beta: the shape of the window: more is flatter within the band and wider at its end.
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
    // A little more, for the rounding of the taps and sums in 32 bits.
    worstGain = Float(max(worst, 1)) * 1.000_01
    curvatureGain = Float(curvature) * 1.000_01
    residualGain = 1 + Float(residual) + 1e-5
  }

  /// The 2 · `reach` taps for a point `phase` / `factor` of the way from one sample to the next;
  /// the first belongs to the sample `reach` − 1 before the point's own. Their sum is 1.
  func taps(phase: Int) -> [Double] { sinc.taps(Double(phase) / Double(factor)) }

  /// A point depends on this many samples on each side.
  var reach: Int { sinc.reach }

  /// What no point of a group can exceed, from the extents of that group and its neighbours; it is
  /// no longer than the filter's reach.
  func bound(_ extent: GroupExtent) -> Float {
    min(
      worstGain * extent.peak,
      residualGain * extent.peak + curvatureGain * extent.curvature)
  }
}

extension TruePeakFilter {
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
}

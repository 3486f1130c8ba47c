import AudioModel
import Glibc

/// Finds how high the analogue wave rises between samples, by oversampling as ITU-R BS.1770-4,
/// annex 2, asks for: a polyphase interpolator with a Kaiser-windowed sinc of 48 taps a phase.
///
/// It is flat to 0.46 of the sample rate, so that 20 kHz is inside at 44.1 kHz. For what lies
/// between there and half the rate there is no true answer: oversamplers whose filters end in
/// different places differ by up to a decibel on white noise.
///
/// Interpolating is expensive and mostly in vain, so `bound` first says, from two cheap numbers,
/// what the peak of a group of frames cannot exceed.
final class TruePeakInterpolator {
  /// Frames are looked at in groups of this many.
  static let group = 64
  /// The filter's reach: a point depends on this many samples on each side.
  static let reach = 24

  private static let tapCount = 2 * reach
  private let phaseCount: Int
  /// The taps, phase by phase.
  private let taps: Scratch<Float>

  /// The greatest sum of |tap| of a phase: no point exceeds this times the greatest sample.
  private let worstGain: Float
  /// What the filter adds to a straight line between two samples, at most, for each unit of the
  /// greatest second difference.
  private let curvatureGain: Float
  /// The same for each unit of the greatest sample: what is no second difference, a trifle.
  private let residualGain: Float

  /// Computes the filter for `factor` points a frame, at least 2.
  init(factor: Int) {
    phaseCount = factor - 1
    taps = Scratch(repeating: 0, count: phaseCount * Self.tapCount)
    var (worst, curvature, residual) = (0.0, 0.0, 0.0)
    for phase in 0..<phaseCount {
      let fraction = Double(phase + 1) / Double(factor)
      let filter = Self.filter(fraction)
      for (index, tap) in filter.enumerated() {
        taps[phase * Self.tapCount + index] = Float(tap)
      }
      worst = max(worst, filter.reduce(0) { $0 + abs($1) })
      let split = Self.split(filter, fraction)
      curvature = max(curvature, split.curvature)
      residual = max(residual, split.residual)
    }
    // A little more, for the rounding of the taps and sums in 32 bits.
    worstGain = Float(max(worst, 1)) * 1.000_01
    curvatureGain = Float(curvature) * 1.000_01
    residualGain = 1 + Float(residual) + 1e-5
  }

  /// The taps for the point `fraction` of the way from one sample to the next; their sum is 1.
  private static func filter(_ fraction: Double) -> [Double] {
    let taps = (0..<tapCount).map { index in
      let distance = Double(index - reach + 1) - fraction
      let sinc = sin(.pi * distance) / (.pi * distance)
      let place = distance / Double(reach)
      return sinc * besselI0(5 * max(1 - place * place, 0).squareRoot())
    }
    let sum = taps.reduce(0, +)
    return taps.map { $0 / sum }
  }

  /// Splits a filter into a straight line between the two middle samples, a filter of second
  /// differences, and a rest that corrects the first moment; gives the sums of |tap| of the last
  /// two. Sound without much treble has small second differences, so its peaks are bounded well.
  private static func split(
    _ filter: [Double], _ fraction: Double
  ) -> (curvature: Double, residual: Double) {
    var rest = filter
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

extension TruePeakInterpolator {
  /// What no point of a group can exceed, from the extents of that group and its neighbours.
  func bound(_ extent: GroupExtent) -> Float {
    min(
      worstGain * extent.peak,
      residualGain * extent.peak + curvatureGain * extent.curvature)
  }

  /// Writes, for each of a group's frames, the greatest magnitude of its sample and of the points
  /// between it and the next one, where that is greater than what `peaks` holds already. `samples`
  /// must be surrounded by `reach` more on each side.
  func raise(_ peaks: UnsafeMutablePointer<Float>, by samples: UnsafePointer<Float>) {
    // As many frames at once as there are registers for their sums: each sum is a serial chain of
    // additions, and only several chains side by side keep the adder busy.
    var frame = 0
    while frame < Self.group {
      let first = unsafe UnsafeRawPointer(samples + (frame &- Self.reach &+ 1))
      let own = unsafe UnsafeRawPointer(samples + frame).loadUnaligned(as: SIMD16<Float>.self)
      var top = Self.greater(SIMD16.zero, own)
      var bottom = Self.greater(SIMD16.zero, 0 - own)
      var phase = unsafe UnsafePointer(taps.start)
      for _ in 0..<phaseCount {
        var sum = SIMD16<Float>.zero
        for tap in 0..<Self.tapCount {
          let shifted = unsafe first.loadUnaligned(
            fromByteOffset: tap &<< 2, as: SIMD16<Float>.self)
          unsafe sum += SIMD16(repeating: phase[tap]) * shifted
        }
        top = Self.greater(top, sum)
        bottom = Self.greater(bottom, 0 - sum)
        unsafe phase += Self.tapCount
      }
      let target = unsafe UnsafeMutableRawPointer(peaks + frame)
      let before = unsafe target.loadUnaligned(as: SIMD16<Float>.self)
      unsafe target.storeBytes(
        of: Self.greater(before, Self.greater(top, bottom)), as: SIMD16<Float>.self)
      frame &+= 16
    }
  }

  @inline(__always)
  private static func greater(_ a: SIMD16<Float>, _ b: SIMD16<Float>) -> SIMD16<Float> {
    a.replacing(with: b, where: b .> a)
  }
}

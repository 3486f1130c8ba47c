/// Finds true peaks by oversampling after ITU-R BS.1770-4, annex 2: a polyphase interpolator with a
/// Kaiser-windowed sinc of 48 taps a phase.
///
/// It is flat to 0.46 of the sample rate, which includes 20 kHz at 44.1 kHz. Between there and half
/// the rate the true peak is not unique: oversamplers with different band edges differ by up to a
/// decibel on white noise.
///
/// Interpolating is expensive and mostly unnecessary, so `bound` first gives an upper bound for the
/// peak of a group of frames from two cheap numbers.
final class TruePeakInterpolator {
  /// Frames are examined in groups of this many.
  static let group = 64
  /// Samples on each side of a point that it depends on.
  static let reach = 24

  private static let tapCount = 2 * reach
  private let filter: TruePeakFilter
  private let phaseCount: Int
  /// The taps, phase by phase.
  private let taps: Scratch<Float>

  /// `factor` points a frame, at least 2.
  init(factor: Int) {
    filter = TruePeakFilter(factor: factor, reach: Self.reach, beta: 5)
    phaseCount = factor - 1
    taps = Scratch(repeating: 0, count: phaseCount * Self.tapCount)
    for phase in 0..<phaseCount {
      for (index, tap) in filter.taps(phase: phase + 1).enumerated() {
        taps[phase * Self.tapCount + index] = Float(tap)
      }
    }
  }

  /// An upper bound for all points of a group, from the bounds of that group and its neighbours.
  func bound(_ extent: GroupExtent) -> Float { filter.bound(extent) }

  /// Raises each peak in `peaks` to the greatest magnitude of the frame's sample and of the points
  /// up to the next sample. `reach` samples must be readable on each side of `samples`.
  func raise(_ peaks: UnsafeMutablePointer<Float>, by samples: UnsafePointer<Float>) {
    // As many frames at once as there are registers for their sums: each sum is a serial chain of
    // additions, and several chains keep the adder busy.
    var frame = 0
    while frame < Self.group {
      let first = unsafe UnsafeRawPointer(samples + (frame &- Self.reach &+ 1))
      let own = unsafe UnsafeRawPointer(samples + frame).loadUnaligned(as: SIMD16<Float>.self)
      var top = LinkedLevel.greater(SIMD16.zero, own)
      var bottom = LinkedLevel.greater(SIMD16.zero, 0 - own)
      var phase = unsafe UnsafePointer(taps.start)
      for _ in 0..<phaseCount {
        var sum = SIMD16<Float>.zero
        for tap in 0..<Self.tapCount {
          let shifted = unsafe first.loadUnaligned(
            fromByteOffset: tap &<< 2, as: SIMD16<Float>.self)
          unsafe sum += SIMD16(repeating: phase[tap]) * shifted
        }
        top = LinkedLevel.greater(top, sum)
        bottom = LinkedLevel.greater(bottom, 0 - sum)
        unsafe phase += Self.tapCount
      }
      let target = unsafe UnsafeMutableRawPointer(peaks + frame)
      let before = unsafe target.loadUnaligned(as: SIMD16<Float>.self)
      unsafe target.storeBytes(
        of: LinkedLevel.greater(before, LinkedLevel.greater(top, bottom)), as: SIMD16<Float>.self)
      frame &+= 16
    }
  }
}

/// Bounds of a run of samples: the greatest magnitude, and the greatest magnitude of the second
/// difference, x[n] − 2x[n−1] + x[n−2].
struct GroupExtent: BitwiseCopyable {
  var peak: Float = 0
  var curvature: Float = 0

  /// The bounds of both runs together.
  func union(_ other: GroupExtent) -> GroupExtent {
    GroupExtent(peak: max(peak, other.peak), curvature: max(curvature, other.curvature))
  }
}

extension GroupExtent {
  /// The bounds of a group of `TruePeakInterpolator.group` samples; the two samples before it must
  /// be readable.
  @inline(__always)
  init(_ samples: UnsafePointer<Float>) {
    // Spelled out lane by lane: masked vectors compile to code that is four times slower.
    var peaks: [8 of Float] = .init(repeating: 0)
    var bends: [8 of Float] = .init(repeating: 0)
    var index = 0
    while index < TruePeakInterpolator.group {
      for lane in 0..<8 {
        let newest = unsafe samples[index &+ lane]
        let middle = unsafe samples[index &+ lane &- 1]
        let oldest = unsafe samples[index &+ lane &- 2]
        peaks[lane] = LinkedLevel.greater(peaks[lane], newest.magnitude)
        let bend = (newest - middle) - (middle - oldest)
        bends[lane] = LinkedLevel.greater(bends[lane], bend.magnitude)
      }
      index &+= 8
    }
    self.init()
    for lane in 0..<8 {
      peak = LinkedLevel.greater(peak, peaks[lane])
      curvature = LinkedLevel.greater(curvature, bends[lane])
    }
  }
}

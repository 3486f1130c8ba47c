import AudioModel

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
  private let filter: TruePeakFilter
  private let phaseCount: Int
  /// The taps, phase by phase.
  private let taps: Scratch<Float>

  /// Computes the filter for `factor` points a frame, at least 2.
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
}

extension TruePeakInterpolator {
  /// What no point of a group can exceed, from the extents of that group and its neighbours.
  func bound(_ extent: GroupExtent) -> Float { filter.bound(extent) }

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

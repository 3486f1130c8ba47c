/// How far the samples of a stretch reach: the greatest magnitude, and the greatest magnitude of
/// the second difference, x[n] − 2x[n−1] + x[n−2].
struct GroupExtent: BitwiseCopyable {
  var peak: Float = 0
  var curvature: Float = 0

  /// The extent of both stretches together.
  func union(_ other: GroupExtent) -> GroupExtent {
    GroupExtent(peak: max(peak, other.peak), curvature: max(curvature, other.curvature))
  }
}

extension GroupExtent {
  /// The extent of a group of `TruePeakInterpolator.group` samples; two more must lie before it.
  @inline(__always)
  init(_ samples: UnsafePointer<Float>) {
    var peak = SIMD8<Float>.zero
    var curvature = SIMD8<Float>.zero
    var index = 0
    while index < TruePeakInterpolator.group {
      let newest = unsafe LinkedLevel.load(samples + index)
      let middle = unsafe LinkedLevel.load(samples + (index &- 1))
      let oldest = unsafe LinkedLevel.load(samples + (index &- 2))
      peak = LinkedLevel.greater(peak, LinkedLevel.magnitude(newest))
      let bend = (newest - middle) - (middle - oldest)
      curvature = LinkedLevel.greater(curvature, LinkedLevel.magnitude(bend))
      index &+= 8
    }
    self.init(peak: LinkedLevel.greatest(peak), curvature: LinkedLevel.greatest(curvature))
  }
}

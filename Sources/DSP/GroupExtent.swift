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
    // Eight at once, spelled out lane by lane: of vectors with masks the compiler makes code that
    // is four times slower.
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

/// The static curve of a compressor: the reduction, in dB, of a steady level.
///
/// With the slope s = 1 − 1/ratio, the threshold T, the knee width W and o = level − T: 0 below o =
/// −W/2, s · (o + W/2)² / 2W within the knee, s · o above (Giannoulis et al. 2012, equation 4).
struct CompressionCurve {
  private let threshold: Float
  private let slope: Float
  private let knee: Float
  private let halfOverKnee: Float

  init(threshold: Decibels, ratio: Double, knee: Decibels) {
    self.threshold = Float(min(max(threshold.value, -400), 400))
    slope = Float(1 - 1 / max(ratio, 1))
    self.knee = Float(min(max(knee.value, 0), 400))
    // A hard corner has no knee width to divide by.
    halfOverKnee = self.knee > 1e-3 ? 0.5 / self.knee : 0
  }

  /// Replaces levels, as amplitudes, by gain reductions in dB, eight at a time. The last eight may
  /// reach beyond `count`: there must be room.
  @inline(__always)
  func replaceLevelsByReductions(_ values: UnsafeMutablePointer<Float>, count: Int) {
    // 20 / log₂ 10: octaves of amplitude to decibels.
    let scale = SIMD8<Float>(repeating: 6.020_599_91)
    let width = SIMD8<Float>(repeating: knee)
    let zero = SIMD8<Float>.zero
    let offset = SIMD8<Float>(repeating: threshold - knee / 2)
    var index = 0
    while index < count {
      let level = unsafe BinaryLogarithm.log2(LinkedLevel.load(values + index)) * scale
      // Height above the lower end of the knee, and the part of it within the knee.
      let above = LinkedLevel.greater(zero, level - offset)
      let within = above.replacing(with: width, where: above .> width)
      let bent = within * within * SIMD8(repeating: halfOverKnee)
      let reduction = (bent + (above - within)) * SIMD8(repeating: slope)
      unsafe LinkedLevel.store(reduction, at: values + index)
      index &+= 8
    }
  }

  /// Replaces reductions in dB, at most 700, by 1 − gain; eight at a time. The last vector may
  /// reach beyond `count`: there must be room.
  @inline(__always)
  static func replaceReductionsByLosses(_ values: UnsafeMutablePointer<Float>, count: Int) {
    // log₂ 10 / 20: decibels to octaves of amplitude.
    let scale = SIMD8<Float>(repeating: -0.166_096_405)
    var index = 0
    while index < count {
      let gains = unsafe BinaryLogarithm.exp2(LinkedLevel.load(values + index) * scale)
      unsafe LinkedLevel.store(SIMD8(repeating: 1) - gains, at: values + index)
      index &+= 8
    }
  }
}

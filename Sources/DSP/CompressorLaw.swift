import AudioModel

/// The law of a compressor: the static curve, and a smooth branching detector behind it.
struct CompressorLaw: GainLaw {
  static var run: Int { 256 }

  private let curve: CompressionCurve
  private let smoothing: BranchingSmoother
  private let makeUp: Float
  /// How much of the compressed sound is in the result.
  private let wet: Float

  /// The gain reduction after the last frame, in dB.
  var state = 0.0
  var statistics = ReductionStatistics()

  init(_ settings: Compressor.Settings, sampleRate: Hertz) {
    curve = CompressionCurve(
      threshold: settings.threshold, ratio: settings.ratio, knee: settings.knee)
    smoothing = BranchingSmoother(
      attack: TimeConstant.step(settings.attack, at: sampleRate),
      release: TimeConstant.step(settings.release, at: sampleRate))
    makeUp = Float(min(max(settings.makeUp.value, -200), 200))
    wet = Float(min(max(settings.mix, 0), 1))
  }

  @inline(__always)
  mutating func replaceLevelsByGains(_ values: UnsafeMutablePointer<Float>, count: Int) -> Bool {
    unsafe curve.replaceLevelsByReductions(values, count: count)
    state = unsafe smoothing.smooth(values, count: count, from: state, counting: &statistics)
    // So small a reduction is a gain of exactly 1.
    if makeUp == 0, unsafe LinkedLevel.peak(values, count: count) < 1e-8 { return false }
    unsafe replaceReductionsByGains(values, count: count)
    if wet != 1 {
      for index in 0..<count { unsafe values[index] = 1 - wet * (1 - values[index]) }
    }
    return true
  }

  /// From decibels to amplitude ratios, eight at a time.
  @inline(__always)
  private func replaceReductionsByGains(_ values: UnsafeMutablePointer<Float>, count: Int) {
    let makeUp = SIMD8<Float>(repeating: self.makeUp)
    // log₂ 10 / 20: decibels to octaves of amplitude.
    let scale = SIMD8<Float>(repeating: 0.166_096_405)
    let limit = SIMD8<Float>(repeating: 126)
    var index = 0
    while index < count {
      let octaves = unsafe (makeUp - LinkedLevel.load(values + index)) * scale
      let inside = LinkedLevel.greater(LinkedLevel.lesser(octaves, limit), 0 - limit)
      unsafe LinkedLevel.store(BinaryLogarithm.exp2(inside), at: values + index)
      index &+= 8
    }
  }
}

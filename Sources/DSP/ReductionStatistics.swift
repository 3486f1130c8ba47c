import AudioModel

/// Counts gain reductions frame by frame.
struct ReductionStatistics: BitwiseCopyable {
  /// The reduction, in dB, from which a frame counts as turned down.
  static let audible = 0.1

  var frames = 0
  /// How many frames were turned down audibly.
  var active = 0
  /// The sum of all reductions, in dB.
  var sum = 0.0
  var least = Double.infinity
  var greatest = 0.0

  /// Takes one reduction.
  @inline(__always)
  mutating func add(_ reduction: Double) {
    sum += reduction
    active &+= reduction > Self.audible ? 1 : 0
    least = reduction < least ? reduction : least
    greatest = reduction > greatest ? reduction : greatest
  }

  /// Takes the reductions of `count` frames that were scaled by `gains`, above 0 and at most 1.
  /// - Parameter gains: as many as `count`, rounded up to a multiple of eight, can be read.
  @inline(__always)
  mutating func add(gains: UnsafePointer<Float>, count: Int) {
    // 20 · log₁₀ 2: octaves of amplitude to decibels.
    let decibels = SIMD8<Float>(repeating: 6.020_6)
    for start in stride(from: 0, to: count, by: 8) {
      let octaves = unsafe BinaryLogarithm.log2(LinkedLevel.load(gains + start))
      let reductions = SIMD8<Float>() - octaves * decibels
      for lane in 0..<min(8, count - start) { add(Double(reductions[lane])) }
    }
    frames += count
  }

  /// Takes `count` frames of one and the same reduction.
  func adding(_ count: Int, of reduction: Double) -> ReductionStatistics {
    guard count > 0 else { return self }
    return joined(
      ReductionStatistics(
        frames: count, active: reduction > Self.audible ? count : 0, sum: reduction * Double(count),
        least: reduction, greatest: reduction))
  }

  /// The count of both together.
  func joined(_ other: ReductionStatistics) -> ReductionStatistics {
    ReductionStatistics(
      frames: frames + other.frames, active: active + other.active, sum: sum + other.sum,
      least: min(least, other.least), greatest: max(greatest, other.greatest))
  }

  /// The figures, to a ten-thousandth of a decibel: the gains are no more exact.
  var figures: GainReduction {
    func rounded(_ value: Double) -> Decibels { Decibels((value * 1e4).rounded() / 1e4) }
    let count = Double(max(frames, 1))
    return GainReduction(
      least: rounded(frames == 0 ? 0 : least), mean: rounded(sum / count),
      greatest: rounded(greatest), activeShare: Double(active) / count)
  }
}

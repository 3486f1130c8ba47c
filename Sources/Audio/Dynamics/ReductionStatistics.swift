/// Gain reduction counters.
struct ReductionStatistics: BitwiseCopyable {
  /// The least reduction, in dB, that counts as active.
  static let audible = 0.1

  var frames = 0
  /// The number of active frames.
  var active = 0
  /// The sum of all reductions, in dB.
  var sum = 0.0
  var least = Double.infinity
  var greatest = 0.0

  @inline(__always)
  mutating func add(_ reduction: Double) {
    sum += reduction
    active &+= reduction > Self.audible ? 1 : 0
    least = reduction < least ? reduction : least
    greatest = reduction > greatest ? reduction : greatest
  }

  /// Counts the reductions of `count` frames that were scaled by `gains`, above 0 and at most 1.
  @inline(__always)
  mutating func add(gains: UnsafePointer<Float>, count: Int) {
    let threshold = SIMD8(repeating: Int32(bitPattern: Float(Self.audible).bitPattern))
    var sums = SIMD8<Double>.zero
    var (lowest, highest) = (SIMD8<Float>(repeating: .infinity), SIMD8<Float>.zero)
    var audible = SIMD8<Int32>.zero
    var index = 0
    while index &+ 8 <= count {
      let reductions = unsafe Self.reductions(LinkedLevel.load(gains + index))
      sums += SIMD8<Double>(reductions)
      highest = LinkedLevel.greater(highest, reductions)
      lowest = LinkedLevel.lesser(lowest, reductions)
      // Non-negative floats sort by their bits; the sign of the difference tells which is less.
      let bits = unsafe unsafeBitCast(reductions, to: SIMD8<Int32>.self)
      audible &-= (threshold &- bits) &>> 31
      index &+= 8
    }
    sum += sums.sum()
    active &+= Int(audible.wrappedSum())
    least = min(least, Double(lowest.min()))
    greatest = max(greatest, Double(highest.max()))
    while index < count {
      unsafe add(Double(Self.reductions(SIMD8(repeating: gains[index]))[0]))
      index &+= 1
    }
    frames &+= count
  }

  /// Gains as reductions in dB.
  @inline(__always)
  private static func reductions(_ gains: SIMD8<Float>) -> SIMD8<Float> {
    // 20 · log₁₀ 2: octaves of amplitude to decibels.
    SIMD8<Float>.zero - BinaryLogarithm.log2(gains) * SIMD8(repeating: 6.020_6)
  }

  /// Counts `count` frames of one reduction.
  func adding(_ count: Int, of reduction: Double) -> ReductionStatistics {
    guard count > 0 else { return self }
    return joined(
      ReductionStatistics(
        frames: count, active: reduction > Self.audible ? count : 0, sum: reduction * Double(count),
        least: reduction, greatest: reduction))
  }

  /// The sum of both counters.
  func joined(_ other: ReductionStatistics) -> ReductionStatistics {
    ReductionStatistics(
      frames: frames + other.frames, active: active + other.active, sum: sum + other.sum,
      least: min(least, other.least), greatest: max(greatest, other.greatest))
  }

  /// The figures, rounded to 10⁻⁴ dB, the accuracy of the gains.
  var figures: GainReduction {
    func rounded(_ value: Double) -> Decibels { Decibels((value * 1e4).rounded() / 1e4) }
    let count = Double(max(frames, 1))
    return GainReduction(
      least: rounded(frames == 0 ? 0 : least), mean: rounded(sum / count),
      greatest: rounded(greatest), activeShare: Double(active) / count)
  }
}

/// The gain reduction of a processor over all frames of all separately treated channels.
package struct GainReduction: Hashable, Sendable, Codable {
  /// The least reduction of any frame, in dB; 0 if some sound passed unreduced.
  package var least: Decibels
  /// The mean over all frames, in dB.
  package var mean: Decibels
  /// The greatest reduction of any frame, in dB.
  package var greatest: Decibels
  /// The share of frames with a reduction above 0.1 dB; 0…1.
  package var activeShare: Double

  package init(least: Decibels, mean: Decibels, greatest: Decibels, activeShare: Double) {
    self.least = least
    self.mean = mean
    self.greatest = greatest
    self.activeShare = activeShare
  }
}

/// The peak of a stretch under way, eight samples side by side: what the processor does at once.
struct PeakLanes: BitwiseCopyable {
  private var lowest = SIMD8<Float>(repeating: .infinity)
  private var highest = SIMD8<Float>(repeating: -.infinity)
  private var energy = SIMD8<Double>.zero

  /// Takes `count` samples, the first of which stands at `phase` of its stretch.
  mutating func add(_ samples: UnsafePointer<Float>, count: Int, phase: Int) {
    var index = 0
    while index < count, (phase &+ index) & 7 != 0 {
      unsafe addOne(samples[index], lane: (phase &+ index) & 7)
      index &+= 1
    }
    var (low, high, sum) = (lowest, highest, energy)
    while index &+ 8 <= count {
      let eight = unsafe UnsafeRawPointer(samples + index).loadUnaligned(as: SIMD8<Float>.self)
      low = low.replacing(with: eight, where: eight .< low)
      high = high.replacing(with: eight, where: eight .> high)
      let wide = SIMD8<Double>(eight)
      sum += wide * wide
      index &+= 8
    }
    (lowest, highest, energy) = (low, high, sum)
    while index < count {
      unsafe addOne(samples[index], lane: (phase &+ index) & 7)
      index &+= 1
    }
  }

  private mutating func addOne(_ sample: Float, lane: Int) {
    lowest[lane] = min(lowest[lane], sample)
    highest[lane] = max(highest[lane], sample)
    energy[lane] += Double(sample) * Double(sample)
  }

  /// The peak of the stretch, which begins anew.
  mutating func take() -> Peak {
    defer { self = PeakLanes() }
    return Peak(lowest: lowest.min(), highest: highest.max(), energy: Float(energy.sum()))
  }
}

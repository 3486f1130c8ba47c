import Glibc

extension DensityCodebooks {
  /// The likeliest densities of a phone and part for a frame, the likeliest first.
  struct Top {
    private(set) var values = SIMD4<Float>(repeating: -.infinity)
    private(set) var indices = SIMD4<UInt8>.zero
    /// What the next one must exceed.
    private(set) var least = SIMD4<Float>(repeating: -.infinity)
    private var limit = -Float.infinity

    init() {}

    /// None yet; `none` is the number of a density that is not there.
    init(none: Int, above limit: Float) {
      indices = SIMD4(repeating: UInt8(truncatingIfNeeded: none))
      least = SIMD4(repeating: limit)
      self.limit = limit
    }

    /// Takes four densities where they are among the likeliest.
    @inline(__always)
    mutating func take(_ sums: SIMD4<Float>, _ group: Int) {
      guard any(sums .> least) else { return }
      for lane in 0..<4 where sums[lane] > least[0] {
        var place = 3
        while place > 0, sums[lane] > values[place - 1] {
          values[place] = values[place - 1]
          indices[place] = indices[place - 1]
          place -= 1
        }
        values[place] = sums[lane]
        indices[place] = UInt8(truncatingIfNeeded: group * 4 + lane)
        least = SIMD4(repeating: max(limit, values[3]))
      }
    }

    /// Makes likelihoods of the logarithms, against the best of all phones: no less than a floor,
    /// and below it, it does not count which density it is.
    mutating func normalise(by best: Float, floor: Float, _ least: Float, none: UInt8) {
      for lane in 0..<4 {
        if values[lane] - best > floor {
          values[lane] = expf(values[lane] - best)
        } else {
          values[lane] = least
          indices[lane] = none
        }
      }
    }
  }
}

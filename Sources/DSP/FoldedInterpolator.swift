import AudioModel

/// Finds the peaks of the wave between samples with long filters, at half the work.
///
/// The phases f and 1 − f of a symmetric filter are mirror images. With the samples a and b at the
/// same distance on both sides, and their taps p and q, one phase is the sum of pa + qb and the
/// other that of qa + pb: the sum and the difference of (p + q)(a + b) / 2 and (p − q)(a − b) / 2.
/// So two phases cost the multiplications of one.
final class FoldedInterpolator {
  /// What it interpolates with; of an even number of points a frame, and a reach of a group at
  /// most.
  let filter: TruePeakFilter

  /// For each pair of phases (p + q) / 2 from the middle outwards, then (p − q) / 2; behind them
  /// the taps of the phase in the middle, which is its own mirror image.
  private let taps: Scratch<Float>
  /// The sums a + b and differences a − b of the frames at hand, from the middle outwards.
  private let sums, differences: Scratch<SIMD16<Float>>

  init(_ filter: TruePeakFilter) {
    precondition(filter.factor % 2 == 0 && filter.reach <= TruePeakInterpolator.group)
    self.filter = filter
    let reach = filter.reach
    taps = Scratch(repeating: 0, count: (filter.factor - 1) * reach)
    sums = Scratch(repeating: .zero, count: reach)
    differences = Scratch(repeating: .zero, count: reach)
    for phase in 1...filter.factor / 2 {
      let whole = filter.taps(phase: phase)
      let start = 2 * (phase - 1) * reach
      for distance in 0..<reach {
        let (p, q) = (whole[reach - 1 - distance], whole[reach + distance])
        taps[start + distance] = Float((p + q) / 2)
        if 2 * phase < filter.factor { taps[start + reach + distance] = Float((p - q) / 2) }
      }
    }
  }

  /// Writes, for each of a group's frames, the greatest magnitude of its sample and of the points
  /// between it and the next one, where that is greater than what `peaks` holds already. `samples`
  /// must be surrounded by the filter's reach on each side.
  func raise(_ peaks: UnsafeMutablePointer<Float>, by samples: UnsafePointer<Float>) {
    let reach = filter.reach
    let (sums, differences) = unsafe (self.sums.start, self.differences.start)
    for frame in stride(from: 0, to: TruePeakInterpolator.group, by: 16) {
      let middle = unsafe samples + frame
      for distance in 0..<reach {
        let a = unsafe Self.load(middle - distance)
        let b = unsafe Self.load(middle + distance + 1)
        unsafe sums[distance] = a + b
        unsafe differences[distance] = a - b
      }
      let own = unsafe Self.load(middle)
      var top = LinkedLevel.greater(own, 0 - own)
      for pair in 0..<filter.factor / 2 - 1 {
        let even = unsafe Self.total(sums, taps.start + 2 * pair * reach, count: reach)
        let odd = unsafe Self.total(differences, taps.start + (2 * pair + 1) * reach, count: reach)
        top = LinkedLevel.greater(top, LinkedLevel.greater(even + odd, 0 - (even + odd)))
        top = LinkedLevel.greater(top, LinkedLevel.greater(even - odd, odd - even))
      }
      let half = unsafe Self.total(sums, taps.start + (filter.factor - 2) * reach, count: reach)
      top = LinkedLevel.greater(top, LinkedLevel.greater(half, 0 - half))
      let target = unsafe UnsafeMutableRawPointer(peaks + frame)
      let before = unsafe target.loadUnaligned(as: SIMD16<Float>.self)
      unsafe target.storeBytes(of: LinkedLevel.greater(before, top), as: SIMD16<Float>.self)
    }
  }

  @inline(__always)
  private static func total(
    _ values: UnsafePointer<SIMD16<Float>>, _ taps: UnsafePointer<Float>, count: Int
  ) -> SIMD16<Float> {
    var sum = SIMD16<Float>.zero
    // What is small comes first, so that little is rounded away.
    var index = count
    while index > 0 {
      index &-= 1
      unsafe sum += SIMD16(repeating: taps[index]) * values[index]
    }
    return sum
  }

  @inline(__always)
  private static func load(_ samples: UnsafePointer<Float>) -> SIMD16<Float> {
    unsafe UnsafeRawPointer(samples).loadUnaligned(as: SIMD16<Float>.self)
  }
}

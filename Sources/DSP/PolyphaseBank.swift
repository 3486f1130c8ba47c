/// The taps of a filter for every phase that a change of rate meets, and the sums over them.
///
/// Rates with a common divisor meet few phases, and each has its own taps. Where there would be too
/// many, the taps are read off between 4096 phases in a straight line; the error is (π/4096)²/8,
/// 142 dB below the signal.
struct PolyphaseBank: ~Copyable {
  private static let exactPhases = 4096

  private let width: Int
  private let taps: Scratch<Float>
  /// Phases a sample, in the table.
  private let rowCount: Int
  private let phaseCount: Int
  private let isExact: Bool

  /// The taps for points at every `phaseCount`-th of a sample.
  init(_ filter: KaiserSinc, phaseCount: Int) {
    width = 2 * filter.reach
    self.phaseCount = phaseCount
    isExact = phaseCount <= Self.exactPhases
    rowCount = min(phaseCount, Self.exactPhases)
    // The row behind the last is that of the next sample.
    taps = Scratch(repeating: 0, count: width * (rowCount + 1))
    for row in 0...rowCount {
      for (index, tap) in filter.taps(Double(row) / Double(rowCount)).enumerated() {
        taps[row * width + index] = Float(tap)
      }
    }
  }

  /// The value at a phase of the window that begins at `samples`.
  @inline(__always)
  func point(_ samples: UnsafePointer<Float>, phase: Int) -> Float {
    if isExact { return unsafe sum(samples, row: phase) }
    let (row, share) = place(phase)
    let low = unsafe sum(samples, row: row)
    return low + (unsafe sum(samples, row: row &+ 1) - low) * share
  }

  /// The values of two channels at a phase.
  @inline(__always)
  func pair(
    _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, phase: Int
  ) -> SIMD2<Float> {
    if isExact { return unsafe sums(a, b, row: phase) }
    let (row, share) = place(phase)
    let low = unsafe sums(a, b, row: row)
    return low + (unsafe sums(a, b, row: row &+ 1) - low) * share
  }

  /// Where a phase lies: the row before it, and how far it is to the next.
  @inline(__always)
  private func place(_ phase: Int) -> (row: Int, share: Float) {
    let (row, rest) = (phase &* rowCount).quotientAndRemainder(dividingBy: phaseCount)
    return (row, Float(rest) / Float(phaseCount))
  }

  @inline(__always)
  private func sum(_ samples: UnsafePointer<Float>, row: Int) -> Float {
    let taps = unsafe UnsafeRawPointer(self.taps.start + row &* width)
    let samples = unsafe UnsafeRawPointer(samples)
    var sum = SIMD16<Float>()
    var offset = 0
    while offset < width &* 4 {
      sum +=
        unsafe (taps + offset).loadUnaligned(as: SIMD16<Float>.self)
        * (samples + offset).loadUnaligned(as: SIMD16<Float>.self)
      offset &+= 64
    }
    return PolyphaseBank.total(sum)
  }

  @inline(__always)
  private func sums(
    _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, row: Int
  ) -> SIMD2<Float> {
    let taps = unsafe UnsafeRawPointer(self.taps.start + row &* width)
    let (a, b) = unsafe (UnsafeRawPointer(a), UnsafeRawPointer(b))
    var (sumA, sumB) = (SIMD16<Float>(), SIMD16<Float>())
    var offset = 0
    while offset < width &* 4 {
      let tap = unsafe (taps + offset).loadUnaligned(as: SIMD16<Float>.self)
      sumA += unsafe tap * (a + offset).loadUnaligned(as: SIMD16<Float>.self)
      sumB += unsafe tap * (b + offset).loadUnaligned(as: SIMD16<Float>.self)
      offset &+= 64
    }
    return SIMD2(PolyphaseBank.total(sumA), PolyphaseBank.total(sumB))
  }

  /// The sum of all lanes, halves first.
  @inline(__always)
  private static func total(_ lanes: SIMD16<Float>) -> Float {
    let eight = lanes.lowHalf + lanes.highHalf
    let four = eight.lowHalf + eight.highHalf
    let two = four.lowHalf + four.highHalf
    return two[0] + two[1]
  }
}

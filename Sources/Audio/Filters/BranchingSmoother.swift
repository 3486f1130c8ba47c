import Glibc

/// A one-pole smoother with separate time constants for rise and fall: the "smooth branching" peak
/// detector of Giannoulis et al. 2012, equation 16.
struct BranchingSmoother {
  /// The share of the remaining distance covered per frame, for rise and fall.
  let attack, release: Double

  /// Smooths `count` reductions in place from `state`, counts them, and returns the new state.
  @inline(__always)
  func smooth(
    _ values: UnsafeMutablePointer<Float>, count: Int, from state: Double,
    counting statistics: inout ReductionStatistics
  ) -> Double {
    let (attackKeep, releaseKeep) = (1 - attack, 1 - release)
    var y = state
    // The counting runs in parallel with the recursion's latency.
    var counted = statistics
    counted.frames &+= count
    // Branch-free: on the way up the faster of the two steps gives the greater value, on the way
    // down the slower does. So the maximum selects the right one, or the minimum if the attack is
    // slower.
    //
    // The offset of 10⁻³⁰ keeps a state at rest from decaying into subnormal numbers.
    if attack >= release {
      for index in 0..<count {
        let x = unsafe Double(values[index])
        let up = y * attackKeep + x * attack
        let down = y * releaseKeep + (x * release + 1e-30)
        y = up > down ? up : down
        counted.add(y)
        unsafe values[index] = Float(y)
      }
    } else {
      for index in 0..<count {
        let x = unsafe Double(values[index])
        let up = y * attackKeep + (x * attack + 1e-30)
        let down = y * releaseKeep + (x * release + 1e-30)
        y = up < down ? up : down
        counted.add(y)
        unsafe values[index] = Float(y)
      }
    }
    statistics = counted
    return y
  }
}

extension Seconds {
  /// For an exponential approach with this time constant, which covers 1 − 1/e (63 %) of the
  /// distance: the share of the remaining distance covered in one frame; 1 (immediate) for zero.
  func step(at sampleRate: Hertz) -> Double {
    guard value > 0 else { return 1 }
    return -expm1(-1 / (value * sampleRate.value))
  }
}

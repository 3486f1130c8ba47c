/// A one-pole smoother that rises with one time constant and falls with another: the "smooth
/// branching" peak detector of Giannoulis et al. 2012, equation 16.
struct BranchingSmoother {
  /// The part of the way up, and down, that is covered in one frame.
  private let attack, release: Double

  init(attack: Double, release: Double) {
    self.attack = attack
    self.release = release
  }

  /// Replaces `count` reductions by smoothed ones, beginning from `state`, and counts them; gives
  /// the new state.
  @inline(__always)
  func smooth(
    _ values: UnsafeMutablePointer<Float>, count: Int, from state: Double,
    counting statistics: inout ReductionStatistics
  ) -> Double {
    let (attackKeep, releaseKeep) = (1 - attack, 1 - release)
    var y = state
    // Counting hides behind the recursion, whose steps wait for one another.
    var counted = statistics
    counted.frames &+= count
    // No branch is needed: on the way up the faster of the two steps is the higher one, on the
    // way down the slower is. So the maximum picks the right one, or the minimum where the attack
    // is the slower.
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

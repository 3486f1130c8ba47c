/// Which frames of one sequence meet which of another.
struct WarpPath: Hashable {
  /// For each frame of the second sequence the frames of the first that it meets; nil where it is
  /// left out, or silent and passed over.
  private(set) var frames: [ClosedRange<Int>?]
  /// What the whole way costs.
  var cost: Float = .infinity

  /// No frames meet yet.
  init(count: Int) { frames = Array(repeating: nil, count: count) }

  /// Two frames meet.
  mutating func meet(_ first: Int, _ second: Int) {
    guard let known = frames[second] else {
      frames[second] = first...first
      return
    }
    frames[second] = min(known.lowerBound, first)...max(known.upperBound, first)
  }
}

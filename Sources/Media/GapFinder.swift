/// Finds sound that is missing between two packets or frames, by their times.
///
/// Only where a container counts every sample is a jump in time a loss; elsewhere it is how some
/// files are made.
struct GapFinder {
  private let isContinuous: Bool
  private let end: Int64?
  private let tolerance: Int64
  private var expected: Int64?

  /// `isContinuous`: whether the stream's times are counts of samples. `end`: the time of the
  /// stream's end, if known; a time beyond it belongs to another count. `tolerance`: how far a time
  /// may be from the true one.
  init(isContinuous: Bool, end: Int64? = nil, tolerance: Int64 = 0) {
    self.tolerance = tolerance
    self.isContinuous = isContinuous
    self.end = end
  }

  /// Takes the next one's time and samples; gives how many samples are missing before it.
  mutating func gap(before start: Int64?, count: Int64) -> Int64? {
    guard isContinuous, let start else { return nil }
    let jump = expected.map { start - $0 } ?? 0
    let isSteady = abs(jump) <= tolerance
    // Without a length, nothing is known about the time of what follows.
    expected = count > 0 ? (isSteady ? expected ?? start : start) + count : nil
    return !isSteady && jump > 0 && start <= end ?? .max ? jump : nil
  }

  /// A loss of `count` samples is known already.
  mutating func skip(_ count: Int64) {
    expected = expected.map { $0 + count }
  }

  /// What follows counts anew: another recording begins in the same file.
  mutating func restart() { expected = nil }
}

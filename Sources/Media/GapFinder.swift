/// Finds sound that is missing between two frames, by their times.
///
/// Only where a container counts every sample is a jump in time a loss; elsewhere it is how some
/// files are made.
struct GapFinder {
  private let isContinuous: Bool
  private var expected: Int64?

  /// `isContinuous`: whether the stream's times are counts of samples.
  init(isContinuous: Bool) { self.isContinuous = isContinuous }

  /// Takes the next frame's time and samples; gives how many samples are missing before it.
  mutating func gap(before start: Int64?, count: Int) -> Int64? {
    guard isContinuous, let start else { return nil }
    defer { expected = start + Int64(count) }
    guard let expected, start > expected else { return nil }
    return start - expected
  }

  /// A loss of `count` samples is known already.
  mutating func skip(_ count: Int64) {
    expected = expected.map { $0 + count }
  }
}

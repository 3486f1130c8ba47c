/// Finds packets that are missing between two others, by their times.
///
/// Only where a container counts every sample is a jump in time a loss; elsewhere it is how some
/// files are made.
struct GapFinder {
  private let isContinuous: Bool
  private var expected: Int64?

  /// `isContinuous`: whether the stream's times count every sample.
  init(isContinuous: Bool) { self.isContinuous = isContinuous }

  /// How much is missing before a packet, in the stream's time base; nil when nothing is.
  mutating func gap(before start: Int64?, duration: Int64) -> Int64? {
    guard isContinuous, let start else {
      expected = nil
      return nil
    }
    let missing = expected.map { start - $0 } ?? 0
    expected = duration > 0 ? start + duration : nil
    return missing > 0 ? missing : nil
  }
}

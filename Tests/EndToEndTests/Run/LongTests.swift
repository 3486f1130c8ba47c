import Foundation

/// Tests that take minutes: more kills, and every fault at more points.
enum LongTests {
  /// Whether `SPOOL_LONG_TESTS` is set.
  static let areWanted = ProcessInfo.processInfo.environment["SPOOL_LONG_TESTS"] != nil

  /// Every point where they are wanted, else a few of them: each `stride`-th.
  static func points<Point>(_ all: [Point], each stride: Int) -> [Point] {
    areWanted ? all : Swift.stride(from: 0, to: all.count, by: stride).map { all[$0] }
  }
}

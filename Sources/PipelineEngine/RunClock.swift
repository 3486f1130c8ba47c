public import PipelineModel

/// Time and chance, which nothing else in the engine knows.
public protocol RunClock: Sendable {
  /// Seconds since 1970.
  var now: Double { get }
  /// Seconds of work since some moment: they only go forward, and stand still while the process is
  /// stopped (SIGSTOP, a frozen container). Timeouts and speeds go by them.
  var elapsed: Double { get }
  /// A number between 0 and 1.
  func jitter() -> Double
  /// Waits, or returns at once when somebody asks to stop.
  func sleep(_ seconds: Double, unless stop: StopRequest)
}

/// How long to wait before trying again.
enum RetryDelay {
  /// 2ⁿ seconds after the n-th failure, at most a minute, and up to a quarter more so that many
  /// that failed together do not come back together.
  static func seconds(after failures: Int, jitter: Double) -> Double {
    min(Double(1 << min(failures, 6)), 60) * (1 + jitter / 4)
  }
}

/// A length in bytes, for people: `1.4 GB`.
public struct ByteCount: CustomStringConvertible {
  private let count: Int

  /// Wraps a number of bytes.
  public init(_ count: Int) { self.count = count }

  /// Three figures and a decimal unit.
  public var description: String {
    var value = Double(count)
    for unit in ["B", "kB", "MB", "GB"] {
      if value < 1000 || unit == "GB" {
        let isWhole = unit == "B" || value >= 100
        return isWhole
          ? "\(Int(value.rounded())) \(unit)" : "\((value * 10).rounded() / 10) \(unit)"
      }
      value /= 1000
    }
    return "\(count) B"
  }
}

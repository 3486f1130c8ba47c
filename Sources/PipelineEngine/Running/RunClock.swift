import PipelineModel
package import Platform

/// Time and randomness, injected into the engine.
package protocol RunClock: Sendable {
  /// Seconds since 1970.
  var now: Double { get }
  /// Seconds of monotonic time, which excludes time while the process is stopped (SIGSTOP, a frozen
  /// container). For timeouts and speeds.
  var elapsed: Double { get }
  /// A random number between 0 and 1.
  func jitter() -> Double
  /// Waits, or returns at once when the user asks to stop.
  func sleep(_ seconds: Double, unless stop: StopRequest)
}

enum RetryDelay {
  /// 2ⁿ seconds after the n-th failure, at most a minute, plus up to a quarter so that simultaneous
  /// failures do not retry together.
  static func seconds(after failures: Int, jitter: Double) -> Double {
    min(Double(1 << min(failures, 6)), 60) * (1 + jitter / 4)
  }
}

/// A length in bytes, for people: `1.4 GB`.
package struct ByteCount: CustomStringConvertible {
  private let count: Int

  package init(_ count: Int) { self.count = count }

  /// Three figures and a decimal unit.
  package var description: String {
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

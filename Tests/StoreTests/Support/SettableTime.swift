import Synchronization

/// A time that a test sets, in nanoseconds since 1970.
final class SettableTime: Sendable {
  private let time: Mutex<Int64>

  init(_ start: Int64) { time = Mutex(start) }

  var value: Int64 {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }
}

import Synchronization

/// A value that a test's threads write and the test reads.
final class Shared<Value: Sendable>: Sendable {
  private let mutex: Mutex<Value>

  init(_ value: Value) { mutex = Mutex(value) }

  var value: Value { mutex.withLock { $0 } }

  func update(_ change: (inout Value) -> Void) {
    mutex.withLock { value in
      var copy = value
      change(&copy)
      value = copy
    }
  }
}

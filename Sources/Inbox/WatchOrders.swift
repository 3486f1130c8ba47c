internal import Synchronization

/// What other threads ask of a watcher's thread.
final class WatchOrders: Sendable {
  /// What has been asked since it was last taken.
  struct Order {
    var isRescan = false
    var isRecheck = false
    var newLooks: [InboxPath] = []
  }

  private struct State {
    var order = Order()
    var isStopped = false
  }

  /// Rung with every order.
  let wake = WakeUp()
  private let state = Mutex(State())

  /// Whether the watch is to end.
  var isStopped: Bool { state.withLock(\.isStopped) }

  /// Asks for something.
  func add(_ change: (inout Order) -> Void) {
    state.withLock { change(&$0.order) }
    wake.ring()
  }

  /// Asks for the end.
  func stop() {
    state.withLock { $0.isStopped = true }
    wake.ring()
  }

  /// What was asked; nil once the watch is to end.
  func take() -> Order? {
    state.withLock { state in
      if state.isStopped { return nil }
      defer { state.order = Order() }
      return state.order
    }
  }
}

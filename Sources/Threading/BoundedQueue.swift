/// A first-in, first-out line between threads that holds at most `capacity` elements: a sender
/// that is too fast waits, so that memory stays flat.
public final class BoundedQueue<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element?]
    var first = 0
    var count = 0
    var isClosed = false
  }

  private let monitor: Monitor<State>

  /// Makes an empty queue; `capacity` is at least 1.
  public init(capacity: Int) {
    precondition(capacity > 0)
    monitor = Monitor(State(elements: Array(repeating: nil, count: capacity)))
  }

  /// Adds an element, waiting for room. False, and the element is dropped, once the queue is
  /// closed. O(1).
  @discardableResult
  public func send(_ element: Element) -> Bool {
    monitor.wait { state in
      if state.isClosed { return false }
      let capacity = state.elements.count
      guard state.count < capacity else { return nil }
      state.elements[(state.first + state.count) % capacity] = element
      state.count += 1
      return true
    }
  }

  /// Takes the oldest element, waiting for one; nil once the queue is closed and drained. O(1).
  public func receive() -> Element? {
    monitor.wait { state -> Element?? in
      guard state.count > 0 else { return state.isClosed ? .some(nil) : nil }
      let element = state.elements[state.first].take()
      state.first = (state.first + 1) % state.elements.count
      state.count -= 1
      return .some(element)
    }
  }

  /// Nothing more will be sent; what is in the queue can still be received.
  public func close() {
    monitor.update { $0.isClosed = true }
  }

  /// Closes the queue and drops what is in it.
  public func cancel() {
    monitor.update { state in
      state.isClosed = true
      state.count = 0
      state.elements = Array(repeating: nil, count: state.elements.count)
    }
  }
}

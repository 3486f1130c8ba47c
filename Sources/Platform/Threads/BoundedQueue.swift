import Glibc

/// A FIFO queue between threads with at most `capacity` elements: senders wait for room, so that
/// memory is bounded.
package final class BoundedQueue<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element?]
    var first = 0
    var count = 0
    var isClosed = false
  }

  private let monitor: Monitor<State>

  /// `capacity` is at least 1.
  package init(capacity: Int) {
    precondition(capacity > 0)
    monitor = Monitor(State(elements: Array(repeating: nil, count: capacity)))
  }

  /// Adds an element, waiting for room. Returns false and drops the element once the queue is
  /// closed. O(1).
  @discardableResult
  package func send(_ element: Element) -> Bool {
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
  package func receive() -> Element? {
    monitor.wait { state -> Element?? in
      guard state.count > 0 else { return state.isClosed ? .some(nil) : nil }
      let element = state.elements[state.first].take()
      state.first = (state.first + 1) % state.elements.count
      state.count -= 1
      return .some(element)
    }
  }

  /// Ends sending; queued elements can still be received.
  package func close() {
    monitor.update { $0.isClosed = true }
  }

  /// Closes the queue and drops its elements.
  package func cancel() {
    monitor.update { state in
      state.isClosed = true
      state.count = 0
      state.elements = Array(repeating: nil, count: state.elements.count)
    }
  }
}

/// An unbounded message queue for one thread. Senders never wait, so something else must bound the
/// number of messages.
package final class Mailbox<Message: Sendable>: Sendable {
  private let messages = Monitor<[Message]>([])

  package init() {}

  /// O(1) amortised.
  package func send(_ message: Message) { messages.update { $0.append(message) } }

  /// Takes all messages in the order of sending, waiting for the first on the monotonic clock; none
  /// after a timeout.
  package func receive(atMost limit: Duration) -> [Message] {
    messages.wait(atMost: limit) { messages in
      guard !messages.isEmpty else { return nil }
      defer { messages = [] }
      return messages
    } ?? []
  }
}

/// A mutex-protected value that threads can wait on.
@safe final class Monitor<State>: @unchecked Sendable {
  // `state` is touched only while `mutex` is held, so a reference may cross threads. The mutex and
  // the condition must not move, hence their own memory.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var state: State

  init(_ state: sending State) {
    self.state = state
    unsafe pthread_mutex_init(mutex, nil)
    // Timed waits use the monotonic clock.
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Changes the value and wakes every waiting thread.
  func update<Result>(_ change: (inout State) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_cond_broadcast(condition)
      unsafe pthread_mutex_unlock(mutex)
    }
    return change(&state)
  }

  /// Waits until `attempt` returns a value, repeating it after every `update`; a success counts as
  /// an update.
  func wait<Result>(until attempt: (inout State) -> Result?) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_cond_broadcast(condition)
      unsafe pthread_mutex_unlock(mutex)
    }
    while true {
      if let result = attempt(&state) { return result }
      unsafe pthread_cond_wait(condition, mutex)
    }
  }

  /// As `wait(until:)`, with a timeout.
  func wait<Result>(
    atMost duration: Duration, until attempt: (inout State) -> Result?
  ) -> Result? {
    var deadline = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
    let (seconds, attoseconds) = duration.components
    let nanoseconds = deadline.tv_nsec + Int(attoseconds / 1_000_000_000)
    deadline.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
    deadline.tv_nsec = nanoseconds % 1_000_000_000
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_cond_broadcast(condition)
      unsafe pthread_mutex_unlock(mutex)
    }
    while true {
      if let result = attempt(&state) { return result }
      if unsafe pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT {
        return attempt(&state)
      }
    }
  }
}

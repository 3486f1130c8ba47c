import Glibc

/// A value that threads take turns at, and can wait on until it has become what they need.
@safe final class Monitor<State>: @unchecked Sendable {
  // `state` is touched only while `mutex` is held, so a reference may cross threads. The mutex
  // and the condition must not move, hence memory of their own.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var state: State

  init(_ state: sending State) {
    self.state = state
    unsafe pthread_mutex_init(mutex, nil)
    // Waits with a limit go by a clock that nobody sets.
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

  /// Changes the value and wakes every waiting thread to look at it again.
  func update<Result>(_ change: (inout State) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_cond_broadcast(condition)
      unsafe pthread_mutex_unlock(mutex)
    }
    return change(&state)
  }

  /// Waits until `attempt` gives something, trying it again after every `update`; an attempt
  /// that succeeds counts as one.
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

  /// Waits as `wait(until:)` does, but gives up after a while.
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

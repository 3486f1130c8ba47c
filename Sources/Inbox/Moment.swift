// glibc's structures count as those of whichever module was loaded first.
internal import CPosix
internal import Glibc

/// Times that only ever go forward.
enum Moment {
  /// Time since the machine started, by a clock that nobody sets.
  static var now: Duration { reading(CLOCK_MONOTONIC) }

  /// Processor time that this thread has used.
  static var threadTime: Duration { reading(CLOCK_THREAD_CPUTIME_ID) }

  private static func reading(_ clock: clockid_t) -> Duration {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}

internal import Glibc
internal import Synchronization

/// Adds up the time that several threads spend on one thing.
package final class WorkMeter: Sendable {
  private let nanoseconds = Atomic<Int64>(0)

  package init() {}

  /// The time so far, in seconds.
  package var seconds: Double { Double(nanoseconds.load(ordering: .relaxed)) / 1e9 }

  package func add(nanoseconds count: Int64) {
    nanoseconds.wrappingAdd(count, ordering: .relaxed)
  }

  /// Does work on the calling thread and adds its processor time: what it waits for counts where
  /// that is done. A system call before and after: for pieces of work of 0.1 ms or more.
  package func measure<Result: ~Copyable, Failure: Error>(
    _ work: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let start = Self.processorTime
    defer { add(nanoseconds: Self.processorTime - start) }
    return try work()
  }

  /// The calling thread's processor time, in nanoseconds.
  private static var processorTime: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

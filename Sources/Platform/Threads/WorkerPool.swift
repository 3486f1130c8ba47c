import Glibc

/// A fixed number of threads that run pieces of work by priority and then in the order of
/// submission.
package final class WorkerPool: Sendable {
  /// The priority of waiting work.
  package enum Priority: Int, Hashable, Sendable, CaseIterable {
    /// First. For long pieces among short ones: the short ones then fill the end, when one thread
    /// alone would work on a long one.
    case high
    case normal
  }

  private typealias Work = @Sendable () -> Void

  private struct State {
    /// Waiting work by priority, the oldest first.
    var lines = Priority.allCases.map { _ in ArraySlice<Work?>() }
    var isFinished = false

    /// Nil if none waits. O(1) amortised.
    mutating func next() -> Work? {
      guard let index = lines.firstIndex(where: { !$0.isEmpty }) else { return nil }
      // A piece that was taken leaves nil behind, so that its memory is freed when it ends.
      let work = lines[index][lines[index].startIndex].take()
      lines[index].removeFirst()
      return work
    }
  }

  // The threads know the monitor but not the pool, so that dropping the pool ends them.
  private let monitor: Monitor<State>
  private let threads: [BackgroundThread]
  /// The pool whose threads it shares, and the meter of its work; nil if it has its own threads.
  private let shared: (pool: WorkerPool, meter: WorkMeter)?

  package var threadCount: Int { shared?.pool.threadCount ?? threads.count }

  /// Starts `threadCount` threads (at least one), named `name-1`, `name-2`, ….
  package init(threadCount: Int, name: String = "worker") {
    let monitor = Monitor(State())
    self.monitor = monitor
    threads = (1...max(1, threadCount)).map { number in
      BackgroundThread(name: "\(name)-\(number)") {
        while let work = monitor.wait(until: Self.workOrEnd) { work() }
      }
    }
    shared = nil
  }

  /// A view of another pool, on the same threads, whose work is metered.
  package init(sharing pool: WorkerPool, _ meter: WorkMeter) {
    monitor = pool.monitor
    threads = []
    shared = (pool, meter)
  }

  deinit { finish() }

  /// Queues a piece of work; drops it after `finish`. Never waits.
  package func submit(
    priority: Priority = .normal, _ work: @Sendable @escaping () -> Void
  ) {
    if let (pool, meter) = shared {
      return pool.submit(priority: priority) { meter.measure(work) }
    }
    monitor.update { state in
      if !state.isFinished { state.lines[priority.rawValue].append(work) }
    }
  }

  /// Does work on the calling thread, which counts as the pool's where that is metered.
  package func measure<Result, Failure: Error>(
    _ work: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let meter = shared?.meter else { return try work() }
    return try meter.measure(work)
  }

  /// Waits for all submitted work, then ends the threads. Must not be called by a piece of work.
  package func finish() {
    // The threads of a view are another pool's.
    if shared != nil { return }
    monitor.update { $0.isFinished = true }
    for thread in threads { thread.join() }
  }

  /// The next piece of work; the inner nil means the end, the outer that more may come.
  private static func workOrEnd(_ state: inout State) -> Work?? {
    if let work = state.next() { return .some(work) }
    return state.isFinished ? .some(nil) : nil
  }
}

package enum CoreCount {
  /// The number of online cores.
  package static var online: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}

extension WorkerPool {
  /// Works on all pieces side by side, and waits for all of them, also where one fails.
  /// - Throws: the error of the first piece that failed, in their order.
  package func forEach<Piece: Sendable, Failure: Error>(
    _ pieces: [Piece], _ work: @escaping @Sendable (Piece) throws(Failure) -> Void
  ) throws(Failure) {
    guard !pieces.isEmpty else { return }
    let results = OrderedResults<Result<Void, Failure>>(pool: self, limit: pieces.count)
    for piece in pieces {
      results.submit { Result { () throws(Failure) in try work(piece) } }
    }
    var outcome = Result<Void, Failure>.success(())
    while let result = results.next() {
      if case .success = outcome { outcome = result }
    }
    try outcome.get()
  }
}

/// Concurrent work whose results are taken in the order of submission, with a bound on results not
/// yet taken.
///
/// One thread submits and takes; only the work runs elsewhere.
package final class OrderedResults<Result: Sendable> {
  private let pool: WorkerPool
  private let priority: WorkerPool.Priority
  private var slots: [Monitor<Result?>] = []

  /// The largest number of results not yet taken.
  package let limit: Int

  package init(pool: WorkerPool, limit: Int, priority: WorkerPool.Priority = .normal) {
    precondition(limit > 0)
    self.pool = pool
    self.priority = priority
    self.limit = limit
  }

  package var count: Int { slots.count }

  /// Whether a result must be taken before the next submission.
  package var isFull: Bool { slots.count >= limit }

  /// Whether the next result is available without waiting.
  package var isNextReady: Bool { slots.first?.update { $0 != nil } ?? false }

  /// There must be room.
  package func submit(_ work: @Sendable @escaping () -> Result) {
    precondition(!isFull, "take a result first")
    let slot = Monitor<Result?>(nil)
    slots.append(slot)
    pool.submit(priority: priority) {
      let result = work()
      slot.update { $0 = result }
    }
  }

  /// The oldest result, waiting for it; nil if there is none.
  package func next() -> Result? {
    guard !slots.isEmpty else { return nil }
    return slots.removeFirst().wait { $0.take() }
  }
}

/// A fixed number of threads that do pieces of work, started in the order of their priority and,
/// among equals, of their submission.
public final class WorkerPool: Sendable {
  private struct State {
    var queue = WorkQueue()
    var isFinished = false
  }

  // The threads know the monitor but not the pool, so that dropping the pool ends them.
  private let monitor: Monitor<State>
  private let threads: [BackgroundThread]

  /// How many pieces run at once.
  public var threadCount: Int { threads.count }

  /// Starts `threadCount` threads (at least one), called `name-1`, `name-2`, ….
  public init(threadCount: Int, name: String = "worker") {
    let monitor = Monitor(State())
    self.monitor = monitor
    threads = (1...max(1, threadCount)).map { number in
      BackgroundThread(name: "\(name)-\(number)") {
        while let work = monitor.wait(until: Self.workOrEnd) { work() }
      }
    }
  }

  deinit { finish() }

  /// Queues a piece of work; dropped when the pool is finished. Never waits.
  public func submit(
    priority: WorkPriority = .normal, _ work: @Sendable @escaping () -> Void
  ) {
    monitor.update { state in
      if !state.isFinished { state.queue.append(work, priority) }
    }
  }

  /// Lets everything submitted come to its end, then ends the threads. Never called from a piece
  /// of work.
  public func finish() {
    monitor.update { $0.isFinished = true }
    for thread in threads { thread.join() }
  }

  /// The next piece of work; the inner nil means that none will come, the outer that one may.
  private static func workOrEnd(_ state: inout State) -> (@Sendable () -> Void)?? {
    if let work = state.queue.next() { return .some(work) }
    return state.isFinished ? .some(nil) : nil
  }
}

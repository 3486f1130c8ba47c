/// Work done side by side whose results are taken in the order in which it was handed out, with a
/// bound on how much is under way or waits to be taken.
///
/// It belongs to one thread, which both submits and takes; only the work runs elsewhere.
public final class OrderedResults<Result: Sendable> {
  private let pool: WorkerPool
  private let priority: WorkPriority
  private var slots: [Monitor<Result?>] = []

  /// How many pieces may be handed out and not yet taken.
  public let limit: Int

  /// Hands work to `pool`, all of it with one priority.
  public init(pool: WorkerPool, limit: Int, priority: WorkPriority = .normal) {
    precondition(limit > 0)
    self.pool = pool
    self.priority = priority
    self.limit = limit
  }

  /// How many results are still to be taken.
  public var count: Int { slots.count }

  /// Whether a result must be taken before more work can be handed out.
  public var isFull: Bool { slots.count >= limit }

  /// Whether the oldest result can be taken without waiting for it.
  public var isNextReady: Bool { slots.first?.update { $0 != nil } ?? false }

  /// Hands out a piece of work; there must be room.
  public func submit(_ work: @Sendable @escaping () -> Result) {
    precondition(!isFull, "take a result first")
    let slot = Monitor<Result?>(nil)
    slots.append(slot)
    pool.submit(priority: priority) {
      let result = work()
      slot.update { $0 = result }
    }
  }

  /// The oldest piece's result, waiting for it; nil when nothing is handed out.
  public func next() -> Result? {
    guard !slots.isEmpty else { return nil }
    return slots.removeFirst().wait { $0.take() }
  }
}

/// Pieces of work that wait for a thread: those of high priority leave first, and among equals the
/// one that came first.
struct WorkQueue {
  typealias Work = @Sendable () -> Void

  private var lines = WorkPriority.allCases.map { _ in Line() }

  /// Adds a piece. O(1) amortised.
  mutating func append(_ work: @escaping Work, _ priority: WorkPriority) {
    lines[priority.rawValue].waiting.append(work)
  }

  /// Takes the piece whose turn it is; nil when none waits. O(1) amortised.
  mutating func next() -> Work? {
    for index in lines.indices {
      if let work = lines[index].next() { return work }
    }
    return nil
  }

  /// The pieces of one priority.
  private struct Line {
    // Pieces that were taken leave nil behind, so that what they hold is freed when they end.
    var waiting: [Work?] = []
    var first = 0

    mutating func next() -> Work? {
      guard first < waiting.count else { return nil }
      let work = waiting[first].take()
      first += 1
      if first == waiting.count || first > 64 {
        waiting.removeFirst(first)
        first = 0
      }
      return work
    }
  }
}

internal import Synchronization

/// Tells work on other threads that nobody waits for its result any more.
final class StopSign: Sendable {
  private let flag = Atomic(false)

  /// Whether the work may stop.
  var isRaised: Bool { flag.load(ordering: .relaxed) }

  /// Stops the work at its next look.
  func raise() { flag.store(true, ordering: .relaxed) }
}

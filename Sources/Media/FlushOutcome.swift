internal import Synchronization

/// Flushes what cannot be flushed twice: bytes that a disk has once failed to take are gone from the
/// system's memory too, and a later flush would find nothing wrong.
final class FlushOutcome: Sendable {
  private let failure = Mutex<MediaError?>(nil)

  /// Flushes, unless that failed before; then it fails for ever.
  func unlessFailed<Result>(
    _ flush: () throws(MediaError) -> Result
  ) throws(MediaError) -> Result {
    if let failure = failure.withLock({ $0 }) { throw failure }
    do throws(MediaError) { return try flush() } catch {
      failure.withLock { $0 = error }
      throw error
    }
  }
}

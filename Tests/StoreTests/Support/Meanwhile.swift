import Foundation
import Platform
import Synchronization

/// What a test does while the process that it has started runs, on a thread of its own.
///
/// Whoever awaits a process keeps one of the few threads that run tests until that process, and all
/// that were started beside it, are gone. A process must therefore never wait for something that
/// such a thread is to do: with all of them taken, both would wait for ever.
final class Meanwhile: Sendable {
  private let failure: Failure
  private let thread: BackgroundThread

  init(_ body: @Sendable @escaping () throws -> Void) {
    let failure = Failure()
    thread = BackgroundThread(name: "meanwhile") {
      do { try body() } catch { failure.error.withLock { $0 = error } }
    }
    self.failure = failure
  }

  /// Waits for its end; throws what it threw.
  func end() throws {
    thread.join()
    if let error = failure.error.withLock({ $0 }) { throw error }
  }

  private final class Failure: Sendable {
    let error = Mutex<(any Error)?>(nil)
  }
}

/// Waits, for as long as a busy machine may need, until something is so; whether it came to be.
func eventually(_ isSo: () -> Bool) -> Bool {
  for _ in 0..<24_000 {
    if isSo() { return true }
    usleep(5000)
  }
  return false
}

/// Waits until there is a file, or nobody is left who could make it.
func awaitFile(_ path: String) {
  let parent = getppid()
  while !FileManager.default.fileExists(atPath: path), getppid() == parent { usleep(5000) }
}

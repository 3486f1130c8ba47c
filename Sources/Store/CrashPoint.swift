internal import CSQLite
import Glibc
internal import Synchronization

/// For testing only: kills the process, as if by `kill -9`, right before the n-th operation by which
/// a store changes something, counted over the life of the process.
///
/// Chosen by the environment: `SPOOL_CRASH_BEFORE=n`, with n from 1. Without it nothing is counted.
/// What counts is every call of ``FileOperations`` that changes the disk and every commit of the
/// database; what encoders write into their drafts by themselves does not.
final class CrashPoint: Sendable {
  /// The variable that chooses it.
  static let variable = "SPOOL_CRASH_BEFORE"

  /// What the environment chose; nil unless it did.
  static let chosen: CrashPoint? = {
    guard let text = unsafe getenv(variable), let number = Int(unsafe String(cString: text)),
      number > 0
    else { return nil }
    return CrashPoint(before: number)
  }()

  private let number: Int
  private let count = Atomic(0)

  init(before number: Int) { self.number = number }

  /// Counts an operation that is about to begin, and does not return if it is the chosen one.
  func pass() {
    guard isNext() else { return }
    kill(getpid(), SIGKILL)
    // The signal may be delivered to another thread first; this one must do nothing more.
    while true { pause() }
  }

  /// Counts an operation. - Returns: whether it is the chosen one.
  func isNext() -> Bool { count.add(1, ordering: .sequentiallyConsistent).newValue == number }

  /// Counts every commit of a database that has something to commit.
  func watchCommits(of handle: OpaquePointer) {
    _ = unsafe sqlite3_commit_hook(handle, passCommit, nil)
  }
}

/// SQLite calls this right before a commit; 0 lets it go on.
private nonisolated func passCommit(_ context: UnsafeMutableRawPointer?) -> CInt {
  CrashPoint.chosen?.pass()
  return 0
}

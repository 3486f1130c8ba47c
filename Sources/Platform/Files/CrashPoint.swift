internal import CSQLite
import Glibc
internal import Synchronization

/// For tests: kills the process, as by `kill -9`, right before the n-th operation that changes a
/// store, counted from the start of the process.
///
/// Selected by `SPOOL_CRASH_BEFORE=n`, with n from 1. Counts every call of ``FileOperations`` that
/// changes the disk and every commit of the database, but not encoders' own writes to their drafts.
package final class CrashPoint: Sendable {
  package static let variable = "SPOOL_CRASH_BEFORE"

  /// From the environment.
  package static let chosen: CrashPoint? = {
    guard let text = unsafe getenv(variable), let number = Int(unsafe String(cString: text)),
      number > 0
    else { return nil }
    return CrashPoint(before: number)
  }()

  private let number: Int
  private let count = Atomic(0)

  package init(before number: Int) { self.number = number }

  /// Counts an operation; does not return if it is the selected one.
  package func pass() {
    guard isNext() else { return }
    kill(getpid(), SIGKILL)
    // Another thread may receive the signal first; this one must do nothing more.
    while true { pause() }
  }

  package func isNext() -> Bool {
    count.add(1, ordering: .sequentiallyConsistent).newValue == number
  }

  /// Counts the commits of a database that have changes.
  package func watchCommits(of handle: OpaquePointer) {
    _ = unsafe sqlite3_commit_hook(handle, passCommit, nil)
  }
}

/// SQLite calls this right before a commit; 0 allows it.
private nonisolated func passCommit(_ context: UnsafeMutableRawPointer?) -> CInt {
  CrashPoint.chosen?.pass()
  return 0
}

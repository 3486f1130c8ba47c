// glibc's structures count as those of whichever module was loaded first.
internal import CPosix
internal import Glibc
import PipelineModel
internal import Platform
package import Store

/// How an inbox keeps its recordings.
package struct InboxRules: Hashable, Sendable {
  package enum Keeping: String, Hashable, Sendable, Codable, CaseIterable {
    /// Moved to the inbox's folder `accepted`.
    case move
    /// Deleted; the store keeps the recording.
    case delete
    /// Stays in place.
    case leave
  }

  package var keep = Keeping.move
  /// Seconds that a file lies aside before it is deleted. It must not change meanwhile, which
  /// reveals a writer that kept it open.
  package var asidePeriod = 5.0
  /// The same if the system does not tell whether a process has it open for writing.
  package var unseenAsidePeriod = 60.0
  /// What is done with a recording that claims the identity of another one with other bytes.
  package var conflicts = ConflictPolicy.quarantine
  /// When a failed recording is tried again.
  package var retry = RetryPolicy()
  /// Seconds after a recording in which a sidecar still counts as its own: programs reuse names.
  package var lateSidecarLimit = 3600.0
  /// The shortest time between two snapshots of all current recordings, in seconds.
  package var snapshotPause = 1.0
  /// How long an uploaded recording counts as current, in seconds; its acknowledgement stays.
  package var currentPeriod = 30.0 * 86_400
  /// The largest number of uploaded recordings in a snapshot, the last first; it counts all of
  /// them.
  package var currentLimit = 5000

  package init() {}

  /// What is typed before recordings are given up, in order to deliver their files again: where the
  /// inbox deletes them, the store has the only ones. The beginning of a phrase; empty otherwise.
  func bringingBack(_ keys: RecordingKey..., option: StoreOption) -> String {
    guard keep == .delete else { return "" }
    let names = keys.map(\.name).joined(separator: " ")
    let export = option.completing("\(command: .inboxExport) \(names) \(option: .to) DIR")
    return "type \(export), as the store has the only files, "
  }
}

enum MonotonicTime {
  /// Time since the machine started.
  static var now: Duration { .nanoseconds(Clock.monotonic()) }

  /// Processor time of this thread.
  static var threadTime: Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}

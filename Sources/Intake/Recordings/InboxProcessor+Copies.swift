import PipelineModel
import Platform
import Store

/// What destinations have of recordings, as far as acknowledgements say it.
struct FollowedCopies {
  /// A line for each destination and state of files; nil before the first look.
  fileprivate var tally: [String]?
  fileprivate var copies: [RecordingKey: RecordingCopies] = [:]
  /// When the last look was, in seconds since 1970.
  fileprivate var lookedAt = -Double.infinity
  /// Seconds from then to the next one.
  fileprivate var pause = 0.0
}

extension InboxProcessor {
  /// Seconds between two looks while files are on their way.
  private static let copiesPause = 2.0
  /// How many times longer than a look the time until the next one is, at least.
  private static let copiesRest = 50.0

  /// Has the recordings acknowledged again of which destinations have got more. What sends them may be
  /// another process, which tells nothing of it. O(deliveries) every few seconds while any is open.
  func followCopies(
    _ followed: inout FollowedCopies, _ report: inout Report
  ) throws(SpoolError) {
    let now = store.recordings.now
    let due = followed.lookedAt + followed.pause
    guard now >= due || now < followed.lookedAt else {
      report.nextCall = min(report.nextCall ?? .infinity, due - now)
      return
    }
    let begin = MonotonicTime.now
    let tally = try store.deliveries.tally()
    let lines = tally.map { "\($0.destination) \($0.state) \($0.count) \($0.sentByteCount)" }
    if lines != followed.tally {
      let copies = try store.deliveries.allCopies()
      var changed = copies.filter { followed.copies[$0.key] != $0.value }.map(\.key)
      if followed.tally == nil {
        // What was uploaded before this process began is acknowledged.
        let uploading = try store.recordings.matching(
          RecordingQuery(states: [.uploading], pipeline: pipeline, limit: .max))
        changed = Set(uploading.map(\.key)).intersection(changed).sorted()
      }
      try store.recordings.acknowledgeAgain(changed)
      (followed.tally, followed.copies) = (lines, copies)
    }
    let cost = (MonotonicTime.now - begin) / .seconds(1)
    followed.lookedAt = now
    followed.pause = max(Self.copiesPause, Self.copiesRest * cost)
    if tally.contains(where: { $0.state != .delivered }) {
      report.nextCall = min(report.nextCall ?? .infinity, followed.pause)
    }
  }

  /// What destinations have confirmed of a recording whose first file is about to leave the inbox; nil of
  /// any other file, and of a recording that waited for no destination. What has sent the last of it may
  /// be another process, of which the log of this watch knows nothing.
  func confirmation(
    _ held: HeldFile
  ) throws(SpoolError) -> (recording: Recording, destinations: [String])? {
    let recording = held.recording
    guard recording.state == .uploaded, held.file.role == .recording, held.file.target == nil,
      case let states = try store.recordings.events(of: recording.key).map(\.state),
      states.last(where: { $0 != .uploaded }) == .uploading, try !isCopy(held.file)
    else { return nil }
    return (recording, try store.deliveries.copies(of: recording.key).destinations)
  }
}

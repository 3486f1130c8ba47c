internal import PipelineModel
internal import Platform

/// The database's row of unfinished work.
struct WorkEntry: Hashable, Sendable {
  let work: Digest
  /// Identifies the current folder of the work.
  let generation: Int64
  /// Grows with every claim; holders of a smaller one have lost the work.
  let epoch: Int64
  let owner: ProcessIdentity?
  /// Time of the last claim, in seconds since 1970.
  let claimedAt: Double
  /// The last journal entry.
  let recording: JournalEntry?
  /// Time of the last claim or journal entry, in seconds since the owner's boot.
  let touchedSinceBoot: Double?
  /// Seconds of work by earlier owners in the journal entry.
  var spentSeconds = 0.0
  /// Time of an unreadable journal entry, in seconds since 1970; nil if there is none.
  var damagedNoteAt: Double?

  /// The owner's last write to the database, in seconds since 1970.
  var lastTouch: Double { max(claimedAt, recording?.notedAt ?? damagedNoteAt ?? claimedAt) }

  /// Upper bound of the seconds of work in the journal entry. A clock change counts as at most a
  /// day per owner.
  var notedSeconds: Double {
    guard recording != nil || damagedNoteAt != nil else { return 0 }
    return spentSeconds + min(max(0, lastTouch - claimedAt), Self.longestStint)
  }

  /// Longest time without a write that is believed, in seconds.
  private static let longestStint = 86_400.0

  /// The owner, as far as PID namespaces let this process see it.
  var visibleOwner: WorkOwner {
    guard let owner, owner.isAlive else { return WorkOwner(processNumber: 0, isStopped: false) }
    return WorkOwner(processNumber: Int(owner.number), isStopped: owner.isStopped)
  }

  /// Whether the owner is stopped and inactive for so long that its work should start over.
  /// - Parameters:
  ///   - lastWrite: last write in its folder, in seconds since 1970.
  ///   - now: in seconds since 1970.
  ///   - grace: in seconds.
  func isFrozen(lastWrite: Double?, now: Double, grace: Double) -> Bool {
    // A clock that was set back must not prolong the wait.
    abs(now - max(lastTouch, lastWrite ?? lastTouch)) > grace && visibleOwner.isStopped
  }

  /// Upper bound of the lost work, in seconds: the time after the last journal entry or, without
  /// one, after the claim. Nil without an owner.
  ///
  /// Wall clocks can be set, and file times use them. Within one boot the monotonic clock bounds
  /// the loss; after another boot the bound is a day. Time namespaces shift the monotonic clock, so
  /// the wall clock is a second bound: the smaller one counts, and neither if it puts the entry in
  /// the future.
  /// - Parameters:
  ///   - lastWrite: last write in its folder, in seconds since 1970.
  ///   - now: in seconds since 1970.
  ///   - sinceBoot: in seconds.
  func lostSeconds(lastWrite: Double?, now: Double, sinceBoot: Double) -> Double? {
    guard let owner else { return nil }
    guard let lastWrite else { return 0 }
    guard let touchedSinceBoot, owner.boot == ProcessIdentity.current.boot else {
      return min(max(min(lastWrite, now) - lastTouch, 0), Self.longestStint)
    }
    let sinceTouch = [sinceBoot - touchedSinceBoot, now - lastTouch].filter { $0 >= 0 }
    let limit = sinceTouch.min() ?? Self.longestStint
    // By the clock at the time of the entry, and by the present one.
    let spans = [lastWrite - lastTouch, lastWrite - (now - sinceBoot) - touchedSinceBoot]
    return spans.filter { (0...limit).contains($0) }.min() ?? min(max(spans[0], 0), limit)
  }
}

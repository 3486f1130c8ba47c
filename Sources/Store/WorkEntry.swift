internal import Hashing
internal import PipelineModel

/// What the database says of one piece of work that is under way or was left.
struct WorkEntry: Hashable, Sendable {
  /// Names the work.
  let work: Digest
  /// Says which of its folders holds.
  let generation: Int64
  /// Grows with every claim. Whoever was given a smaller one has lost the work.
  let epoch: Int64
  /// The process of the last claim; nil where the work was never claimed in this generation.
  let owner: ProcessIdentity?
  /// When it was last claimed, in seconds since 1970.
  let claimedAt: Double
  /// What was noted last.
  let note: JournalNote?

  /// The last time that the owner wrote something into the database, in seconds since 1970.
  var lastTouch: Double { max(claimedAt, note?.notedAt ?? claimedAt) }

  /// The owner, as far as this process can see it: one in another container is not seen.
  var visibleOwner: WorkOwner {
    guard let owner, owner.isAlive else { return WorkOwner(processNumber: 0, isStopped: false) }
    return WorkOwner(processNumber: Int(owner.number), isStopped: owner.isStopped)
  }

  /// Whether the owner is stopped, and has given no sign of life for so long that its work should
  /// be begun anew elsewhere.
  /// - Parameters:
  ///   - lastWrite: when something in its folder was last written to, in seconds since 1970.
  ///   - now: the time, in seconds since 1970.
  ///   - grace: how long to wait for it, in seconds.
  func isFrozen(lastWrite: Double?, now: Double, grace: Double) -> Bool {
    // A clock that was set back makes the sign lie ahead, and must not make it last.
    abs(now - max(lastTouch, lastWrite ?? lastTouch)) > grace && visibleOwner.isStopped
  }

  /// How much of the owner's work is lost at most now that it is gone, in seconds: what it did
  /// after its last note or, where it noted nothing, after its claim. Between 0 and a day, because
  /// clocks are set now and then; nil where nobody was at it.
  func lostSeconds(lastWrite: Double?, now: Double) -> Double? {
    guard owner != nil else { return nil }
    guard let lastWrite else { return 0 }
    return min(max(min(lastWrite, now) - lastTouch, 0), 86_400)
  }
}

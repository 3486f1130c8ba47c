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
  /// When it was last claimed or noted, in seconds since the boot of the machine that the owner lived in.
  let touchedSinceBoot: Double?
  /// Seconds that the owners before this one had put into what this one went on with.
  var spentSeconds = 0.0
  /// When a note was written that cannot be read any more, in seconds since 1970; nil where none was.
  var damagedNoteAt: Double?

  /// The last time that the owner wrote something into the database, in seconds since 1970.
  var lastTouch: Double { max(claimedAt, note?.notedAt ?? damagedNoteAt ?? claimedAt) }

  /// Seconds that all owners have put into what is noted, at most. A clock that was set meanwhile does
  /// not make it more than a day for each.
  var notedSeconds: Double {
    guard note != nil || damagedNoteAt != nil else { return 0 }
    return spentSeconds + min(max(0, lastTouch - claimedAt), Self.longestStint)
  }

  /// No owner is believed to have been at work for longer without a word, in seconds.
  private static let longestStint = 86_400.0

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
  /// after its last note or, where it noted nothing, after its claim. Nil where nobody was at it.
  ///
  /// Clocks are set now and then, and a file's time is of whichever clock there was. Within one boot of
  /// the machine a clock that nobody sets tells how long ago the last note was, and no more than that can
  /// have been lost; after another boot no more than a day is believed. Processes in different time
  /// namespaces have that clock with another origin, so that the time of day is a limit as well: of the
  /// two the smaller, and neither where it says that the note lies ahead.
  /// - Parameters:
  ///   - lastWrite: when something in its folder was last written to, in seconds since 1970.
  ///   - now: the time, in seconds since 1970.
  ///   - sinceBoot: the time, in seconds since the machine was booted.
  func lostSeconds(lastWrite: Double?, now: Double, sinceBoot: Double) -> Double? {
    guard let owner else { return nil }
    guard let lastWrite else { return 0 }
    guard let touchedSinceBoot, owner.boot == ProcessIdentity.current.boot else {
      return min(max(min(lastWrite, now) - lastTouch, 0), Self.longestStint)
    }
    let sinceTouch = [sinceBoot - touchedSinceBoot, now - lastTouch].filter { $0 >= 0 }
    let limit = sinceTouch.min() ?? Self.longestStint
    // By the clock as it was at the note, and as it is now.
    let spans = [lastWrite - lastTouch, lastWrite - (now - sinceBoot) - touchedSinceBoot]
    return spans.filter { (0...limit).contains($0) }.min() ?? min(max(spans[0], 0), limit)
  }
}

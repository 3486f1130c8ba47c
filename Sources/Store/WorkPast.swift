internal import PipelineModel

/// What earlier processes did of a piece of work, as whoever claims it now finds it.
struct WorkPast: Hashable, Sendable {
  /// Seconds of work that are lost, at most; nil where nobody was at it.
  private(set) var lostSeconds: Double?
  /// Seconds of work that are in what was noted.
  private(set) var spentSeconds = 0.0
  /// Why it begins anew; nil where it does not.
  private(set) var setback: WorkSetback?

  /// Takes up what is known of a process that died.
  /// - Parameter lost: what it did after its last note, in seconds; nil where nobody was at it.
  mutating func left(by entry: WorkEntry, lost: Double?) {
    guard let lost else { return }
    lostSeconds = lost
    spentSeconds = entry.notedSeconds
    setback = nil
    guard entry.damagedNoteAt != nil else { return }
    setback = .damagedNote
    loseAll()
  }

  /// Takes up that the work is taken from a process that is stopped: none of it can be gone on with,
  /// because that process may wake and write.
  mutating func takenOver(from entry: WorkEntry, lost: Double?) {
    lostSeconds = lost ?? 0
    spentSeconds = entry.notedSeconds
    setback = .takenOver(from: entry.visibleOwner)
    loseAll()
  }

  private mutating func loseAll() {
    lostSeconds = (lostSeconds ?? 0) + spentSeconds
    spentSeconds = 0
  }
}

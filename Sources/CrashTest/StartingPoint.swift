/// Where a start goes on: what it has not to do again.
struct StartingPoint: Equatable {
  /// Steps whose checkpoints were there.
  var reused: Set<String> = []
  /// Steps that go on inside themselves, and where, in seconds of the recording.
  var resumed: [String: Double] = [:]
  /// What the run itself takes for lost, in seconds of work; nil where it does not say.
  var lostSeconds: Double?
  /// When the start was known to go on, in seconds since its process began; nil while it is not.
  var settledAt: Double?

  /// Whether it goes on inside a pass, and not at its beginning.
  var isInsidePass: Bool { resumed.values.contains { $0 > 0 } }

  /// Takes a report into account; once the point is settled, nothing changes it any more.
  ///
  /// A run first says what it reuses and which pass it begins. The first sign of work behind that
  /// settles where it goes on; without a word about resuming, that is at the pass's beginning.
  mutating func note(_ report: Report, at time: Double) {
    guard settledAt == nil else { return }
    switch report.event {
    case "reused":
      if let step = report.step { reused.insert(step) }
    case "resumed":
      for step in report.steps ?? report.step.map({ [$0] }) ?? [] {
        resumed[step] = report.atSeconds ?? 0
      }
      lostSeconds = report.lostSeconds
      settledAt = time
    case "began-anew":
      lostSeconds = report.lostSeconds
      settledAt = time
    case "progress", "finished", "published", "ended":
      settledAt = time
    default: break
    }
  }
}

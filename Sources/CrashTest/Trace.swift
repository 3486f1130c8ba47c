/// What one process reported, and when: from this alone a crash test knows what a kill cost.
struct Trace {
  /// A step is so far.
  private struct Position {
    let time: Double
    let step: String
    /// Seconds of the recording.
    let done: Double
  }

  /// Where the process went on.
  private(set) var start = StartingPoint()
  private var positions: [Position] = []
  /// When each step's checkpoint was durable.
  private var finished: [String: Double] = [:]
  /// How far each step was last, in seconds of the recording.
  private var last: [String: Double] = [:]

  /// How far the furthest step was, in seconds of the recording; nil while none had moved.
  var furthest: Double? { last.values.max().flatMap { $0 > 0 ? $0 : nil } }

  /// Takes note of a report, `time` seconds after the process was started.
  mutating func note(_ report: Report, at time: Double) {
    start.note(report, at: time)
    switch report.event {
    case "pass":
      for step in report.steps ?? [] { move(step, to: 0, at: time) }
    case "resumed":
      for step in report.steps ?? [] { move(step, to: report.atSeconds ?? 0, at: time) }
    case "progress":
      if let step = report.step, let done = report.done { move(step, to: done, at: time) }
    case "finished":
      if let step = report.step { finished[step] = time }
    default: break
    }
  }

  private mutating func move(_ step: String, to done: Double, at time: Double) {
    positions.append(Position(time: time, step: step, done: done))
    last[step] = done
  }

  /// When the process reported the last thing that a start from `point` has not to do again, in
  /// seconds since the process began; 0 where there is none. O(reports).
  ///
  /// All that the process did before is safe, and no more than all it did after is lost.
  func lastSafeMoment(for point: StartingPoint) -> Double {
    let checkpoints = finished.filter { point.reused.contains($0.key) }.values
    let reached = positions.filter {
      point.reused.contains($0.step) || $0.done <= point.resumed[$0.step] ?? 0
    }
    return max(checkpoints.max() ?? 0, reached.map(\.time).max() ?? 0)
  }

  /// What was lost when the process was killed, given where the next start went on.
  /// - Parameter end: when it was killed, in seconds since it began.
  func loss(killedAt end: Double, next: StartingPoint) -> Loss {
    let again = last.filter { !next.reused.contains($0.key) }
      .map { $0.value - (next.resumed[$0.key] ?? 0) }
    return Loss(
      soundSeconds: max(0, again.max() ?? 0),
      workSeconds: max(0, end - lastSafeMoment(for: next)),
      statedSeconds: next.lostSeconds)
  }
}

/// What a kill cost.
public struct Loss: Hashable, Sendable, Encodable {
  /// Seconds of the recording that had been gone through and are gone through again.
  public let soundSeconds: Double
  /// Seconds of the killed process's life that are lived again, by the clock of the crash test: from
  /// the last report that still holds to the kill. An upper bound, as what was done between two
  /// reports counts as lost.
  public let workSeconds: Double
  /// The same in the words of the run that went on; nil where it said none.
  public let statedSeconds: Double?
}

import FoundationEssentials

/// The timed reports of one process, from which the cost of a kill is computed.
struct Trace {
  /// The cost of a kill.
  struct Loss: Hashable, Sendable, Encodable {
    /// Seconds of the recording that are streamed again.
    let soundSeconds: Double
    /// Upper bound of repeated work in seconds, by the crash test's clock: from the last report that
    /// remains valid to the kill. Work between two reports counts as lost.
    let workSeconds: Double
    /// The resuming run's own statement; nil if it made none.
    let statedSeconds: Double?
  }

  /// Where the process resumed.
  private(set) var start = StartingPoint()
  /// Progress of steps over time, in seconds of the recording.
  private var positions: [(time: Double, step: String, done: Double)] = []
  /// When each step's checkpoint was durable.
  private var finished: [String: Double] = [:]
  /// What the process found damaged: a kill damages nothing.
  private(set) var damagedParts: [String] = []
  /// Latest progress of each step, in seconds of the recording.
  private var last: [String: Double] = [:]

  /// Progress of the furthest step, in seconds of the recording; nil if none has moved.
  var furthest: Double? { last.values.max().flatMap { $0 > 0 ? $0 : nil } }

  /// Records a report, `time` seconds after the process's start.
  mutating func record(_ report: Report, at time: Double) {
    start.record(report, at: time)
    switch report.event {
    case "pass":
      for step in report.steps ?? [] { move(step, to: 0, at: time) }
    case "resumed":
      for step in report.steps ?? [] { move(step, to: report.atSeconds ?? 0, at: time) }
    case "progress":
      if let step = report.step, let done = report.done { move(step, to: done, at: time) }
    case "finished":
      if let step = report.step { finished[step] = time }
    case "dropped", "began-anew":
      if report.cause == "damaged" { damagedParts.append(report.part ?? "work that was noted") }
    default: break
    }
  }

  private mutating func move(_ step: String, to done: Double, at time: Double) {
    positions.append((time, step, done))
    last[step] = done
  }

  /// When the process reported the last work that a start from `point` reuses, in seconds since the
  /// process began; 0 if none. Work before is preserved; at most the work after is lost.
  /// O(reports).
  func lastSafeMoment(for point: StartingPoint) -> Double {
    let checkpoints = finished.filter { point.reused.contains($0.key) }.values
    let reached = positions.filter {
      point.reused.contains($0.step) || $0.done <= point.resumed[$0.step] ?? 0
    }
    return max(checkpoints.max() ?? 0, reached.map(\.time).max() ?? 0)
  }

  /// The loss of a kill, given where the next start resumed.
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

/// A progress event of `spool run --json`.
struct Report: Decodable {
  let event: String
  var step: String?
  var steps: [String]?
  /// Progress of a step, in seconds of the recording.
  var done: Double?
  /// Where a pass resumes, in seconds of the recording.
  var atSeconds: Double?
  /// The run's own statement of lost work, in seconds.
  var lostSeconds: Double?
  /// Why work began anew, or was dropped.
  var cause: String?
  /// Which part of it.
  var part: String?

  /// Parses a line; nil if it is no event.
  init?(line: some Sequence<UInt8>) {
    guard let report = try? JSONDecoder().decode(Report.self, from: Data(line)) else { return nil }
    self = report
  }
}

/// Where a start resumes, and what it reuses.
struct StartingPoint: Equatable {
  /// Steps with a checkpoint.
  var reused: Set<String> = []
  /// Where steps resume inside themselves, in seconds of the recording.
  var resumed: [String: Double] = [:]
  /// The run's own statement of lost work, in seconds; nil if it made none.
  var lostSeconds: Double?
  /// Seconds from the process's start to its first sign of work; nil before that.
  var settledAt: Double?

  /// Whether it resumes inside a pass rather than at its beginning.
  var isInsidePass: Bool { resumed.values.contains { $0 > 0 } }

  /// Updates the starting point; ignored once it is settled.
  ///
  /// A run first reports what it reuses and which pass it begins. The first sign of work after that
  /// settles the starting point: the pass's beginning, unless the run reported a resumption.
  mutating func record(_ report: Report, at time: Double) {
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

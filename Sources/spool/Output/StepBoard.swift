import PipelineEngine
import PipelineModel

/// What the steps of a run look like at a moment. A pure value.
struct StepBoard {
  /// How a step stands.
  private enum Standing {
    case waiting
    case working(done: Double, total: Double?, since: Double, from: Double)
    case made(seconds: Double, media: Double?)
    case reused
    case skipped
    case failed
  }

  /// When the board was last drawn, and how many lines that took.
  var drawnAt = 0.0
  var drawnLineCount = 0
  private let steps: [(id: StepID, kind: String)]
  private var standings: [StepID: Standing] = [:]
  /// Where the steps of a pass go on that was left unfinished, in seconds of the recording.
  private var positions: [StepID: Double] = [:]
  /// Steps that began without seconds of the recording: they may tell the share of their work.
  private var unmeasured: Set<StepID> = []
  private let nameWidth: Int

  init(_ plan: Plan, now: Double) {
    steps = plan.steps.map { ($0.id, $0.descriptor.kind) } + plan.skipped.map { ($0.id, $0.kind) }
    nameWidth = (steps.map(\.id.name.count).max() ?? 0) + 2
  }

  /// Takes note of an event.
  mutating func take(_ event: RunEvent, now: Double) {
    switch event {
    case .reused(let id, _): standings[id] = .reused
    case .skipped(let step): standings[step.id] = .skipped
    case .passStarted(let ids, _, let seconds):
      if seconds == nil { unmeasured.formUnion(ids) } else { unmeasured.subtract(ids) }
      begin(ids, now: now)
    case .resumed(let ids, let at, _, _):
      for id in ids { positions[id] = at }
      begin(ids, now: now)
    case .progress(let id, let done, let total):
      guard case .working(_, let known, let since, let from) = standings[id] else { return }
      standings[id] = .working(done: done, total: total ?? known, since: since, from: from)
    case .finished(let record):
      if case .working(let done, let total, let since, let from) = standings[record.id] {
        let media = isShare(record.id, total) ? 0 : done - from
        standings[record.id] = .made(seconds: now - since, media: media >= 0.1 ? media : nil)
      }
    case .ended(let run):
      for step in run.steps where step.outcome == .failed { standings[step.id] = .failed }
    default: break
    }
  }

  /// Whether a step tells the share of its work, which is nothing to hold against real time.
  private func isShare(_ id: StepID, _ total: Double?) -> Bool {
    total == 1 && unmeasured.contains(id)
  }

  private mutating func begin(_ ids: [StepID], now: Double) {
    for id in ids {
      let from = positions[id] ?? 0
      standings[id] = .working(done: from, total: nil, since: now, from: from)
    }
  }

  /// One line for each step.
  func lines(now: Double, width: Int) -> [String] {
    steps.map { step in
      let name = Format.pad(step.id.name, nameWidth)
      return "  " + name + text(step.id, now: now, width: width)
    }
  }

  /// What is worth a line where nothing can be redrawn.
  func plainLine(for event: RunEvent, now: Double) -> String? {
    let id: StepID
    switch event {
    case .finished(let record): id = record.id
    case .reused(let step, _): id = step
    case .skipped(let step):
      return "  \(Format.pad(step.id.name, nameWidth))skipped: \(step.reason)"
    default: return nil
    }
    return
      "  \(Format.pad(id.name, nameWidth))\(text(id, now: now, width: 0))"
  }

  private func text(_ id: StepID, now: Double, width: Int) -> String {
    switch standings[id] ?? .waiting {
    case .waiting: return "·"
    case .reused: return "reused"
    case .skipped: return "skipped"
    case .failed: return "failed"
    case .made(let seconds, let media):
      let speed = media.map { Format.padLeft(Format.speed(media: $0, wall: seconds), 20) } ?? ""
      return "done" + Format.padLeft(Format.duration(seconds), 12) + speed
    case .working(let done, let total, let since, let from):
      let wall = now - since
      guard done > from, wall > 0 else { return "begins" }
      let speed =
        isShare(id, total)
        ? "" : Format.padLeft(Format.speed(media: done - from, wall: wall), 20)
      guard let total, total > 0 else { return Format.duration(done) + speed }
      let fraction = min(done / total, 1)
      let left = wall * max(total - done, 0) / (done - from)
      let cells = min(24, max(8, width - nameWidth - 50))
      return Format.bar(fraction, width: cells) + Format.padLeft("\(Int(fraction * 100)) %", 6)
        + speed + (fraction < 1 ? "   \(Format.duration(left)) left" : "")
    }
  }
}

import PipelineEngine
import PipelineModel

/// How far the work on one file is. A pure value.
struct FileProgress {
  private var shares: [StepID: Double]

  init(_ plan: Plan) {
    shares = Dictionary(plan.steps.map { ($0.id, 0) }, uniquingKeysWith: { first, _ in first })
  }

  /// From 0 to 1: every step counts alike.
  var fraction: Double {
    shares.isEmpty ? 0 : shares.values.reduce(0, +) / Double(shares.count)
  }

  /// Takes note of an event.
  mutating func take(_ event: RunEvent) {
    switch event {
    case .reused(let id, _): shares[id] = 1
    case .finished(let record): shares[record.id] = 1
    case .progress(let id, let done, let total?) where total > 0:
      shares[id] = max(shares[id] ?? 0, min(done / total, 1))
    default: break
    }
  }
}

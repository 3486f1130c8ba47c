import PipelineModel

/// How a run stands, in words.
extension RunRecord {
  /// `running`, `done`, `failed`, `interrupted` or `cut off`.
  var standing: String {
    switch state {
    case .running: "running"
    case .done: "done"
    case .failed: "failed"
    case .interrupted: "interrupted"
    case .cutOff: "cut off"
    }
  }

  /// What goes on with it; nil where it is done, or still under way.
  var wayOn: String? {
    switch state {
    case .running, .done: nil
    case .failed, .interrupted, .cutOff: "spool resume \(id)"
    }
  }

  /// Seconds that it took, as far as it is known: those at work, where they were counted.
  var seconds: Double? { activeSeconds ?? finishedAt.map { $0 - startedAt } }
}

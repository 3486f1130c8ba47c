import PipelineModel

extension RunRecord.State {
  /// The state in words: `running`, `done`, `failed`, `refused`, `interrupted`, `cut off`, `paused: disk full` or
  /// `dropped`.
  var words: String {
    switch self {
    case .running: "running"
    case .done: "done"
    case .failed: "failed"
    case .refused: "refused"
    case .interrupted: "interrupted"
    case .cutOff: "cut off"
    case .paused: "paused: disk full"
    case .dropped: "dropped"
    }
  }
}

/// How a run stands, in words.
extension RunRecord {
  /// The state in words.
  var standing: String { state.words }

  /// What goes on with it; nil where it is done, or still under way.
  var wayOn: String? {
    switch state {
    case .running, .done, .dropped: nil
    case .failed, .refused, .interrupted, .cutOff, .paused: "spool resume \(id)"
    }
  }

  /// Seconds from its beginning to its end, also those in which its process was stopped or the
  /// machine slept; nil until it ended. The clock may have been set back meanwhile, which never makes
  /// it less than the time at work.
  var seconds: Double? {
    guard let finishedAt else { return activeSeconds }
    return max(finishedAt - startedAt, activeSeconds ?? 0)
  }

  /// Seconds of these in which it could not work, because its process was stopped or the machine
  /// slept; nil where there were hardly any.
  var stoppedSeconds: Double? {
    guard let seconds, let activeSeconds, seconds - activeSeconds >= 1 else { return nil }
    return seconds - activeSeconds
  }
}

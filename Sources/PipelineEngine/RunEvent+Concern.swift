public import PipelineModel

extension RunEvent {
  /// What a log of many runs should hold of it besides their ends: warnings, and why work that was begun
  /// is not gone on with. Nil for what happens in every run.
  public var concern: (step: StepID, text: String)? {
    switch self {
    case .warning(let step, let text): return (step, text)
    case .dropped(let step, let part, _):
      return (step, "the \(part) was damaged, and is made again")
    case .beganAnew(let steps, let setback, _):
      guard let step = steps.first else { return nil }
      switch setback.cause {
      case .damaged:
        return (step, "\(setback.part ?? "unfinished work") was damaged: it begins anew")
      case .takenOver:
        let process = setback.processNumber.map { "process \($0)" } ?? "another process"
        return (step, "taken over from \(process), which is stopped: it begins anew")
      case .notesLost, .recordingChanged: return nil
      }
    default: return nil
    }
  }
}

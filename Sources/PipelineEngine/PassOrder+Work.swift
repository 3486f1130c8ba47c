import Hashing
import PipelineModel

extension PassOrder {
  /// Names the pass as a piece of work: passes with equal names give the same bytes, so that what
  /// an earlier process left of one can be gone on with.
  /// - Parameter recordings: the identities of the plan's inputs.
  func work(on recordings: [String: StepOutput]) -> Digest {
    var fields = ["spool-pass-1"]
    switch start {
    case .opened(let inputs): for input in inputs { fields += input.work(on: recordings) }
    case .kept(_, let artifact): fields += ["kept", artifact.digest.hex]
    }
    for member in path {
      fields += ["step", "\(member.isPending)", "\(member.isKept)", member.memo ?? ""]
      fields += member.step.work
    }
    for listener in listeners {
      let place = path.firstIndex { $0.step.id == listener.at } ?? -1
      fields += ["listener", "\(place)"] + listener.step.work
      for input in listener.inputs { fields += input.work(on: recordings) }
    }
    return SHA256.digest(of: fields.map { "\($0.utf8.count):\($0)" }.joined(separator: "\n"))
  }

  /// The pass for people: `decode, eq, compress → normalize`.
  var summary: String {
    let steps = path.map { "\($0.step.id)" }.joined(separator: ", ")
    let ends = listeners.map { "\($0.step.id)" }.joined(separator: ", ")
    return ends.isEmpty ? steps : "\(steps) → \(ends)"
  }
}

extension PassOrder.SourceInput {
  /// What is read, however it is called.
  fileprivate func work(on recordings: [String: StepOutput]) -> [String] {
    switch origin {
    case .recording(let name, _): ["recording", recordings[name]?.identity.hex ?? ""]
    case .kept(_, let artifact): ["input", artifact.digest.hex]
    case .awaited(let id): ["awaited", id.name]
    }
  }
}

extension BoundStep {
  /// What decides on the step's work besides its inputs.
  fileprivate var work: [String] {
    let components = keyComponents(inputs: [:])
    return [components.key.digest.hex]
  }
}

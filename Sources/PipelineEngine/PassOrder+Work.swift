import Hashing
import PipelineModel

extension PassOrder {
  /// Names the pass as a piece of work: passes with equal names give the same bytes, so that what
  /// an earlier process left of one can be gone on with.
  /// - Parameter recording: the identity of what the pass begins with, where it begins with a
  ///   recording.
  func work(on recording: Digest?) -> Digest {
    var fields = ["spool-pass-1"]
    switch start {
    case .recording: fields += ["recording", recording?.hex ?? ""]
    case .generated: fields += ["generated"]
    case .kept(_, let artifact): fields += ["kept", artifact.digest.hex]
    }
    for member in path {
      fields += ["step", "\(member.isPending)", "\(member.isKept)", member.memo ?? ""]
      fields += member.step.work
    }
    for listener in listeners {
      let place = path.firstIndex { $0.step.id == listener.at } ?? -1
      fields += ["listener", "\(place)"] + listener.step.work
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

extension BoundStep {
  /// What decides on the step's work besides its inputs.
  fileprivate var work: [String] {
    let components = keyComponents(inputs: [:])
    return [components.key.digest.hex]
  }
}

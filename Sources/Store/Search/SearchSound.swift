package import PipelineModel
package import Platform

/// Where the sound of a hit can be had, as far as the store knows.
package struct SearchSound: Sendable {
  /// Files that held the recording, the most likely first.
  package let paths: [String]
  /// The recording's digest; nil where nobody has taken one.
  package let digest: Digest?
  /// The kinds of the steps between the recording and the words, in no order; nil where what they were
  /// has been freed.
  package let kinds: Set<String>?
  /// The very sound in which the words were heard; nil where it is not kept.
  package let kept: Artifact?
}

extension DiskStore {
  /// Where the sound of a hit can be had; nil where its run is not known any more.
  package func sound(of hit: SearchHit) throws(SpoolError) -> SearchSound? {
    guard let run = try runs.run(named: hit.run), run.id.name == hit.run,
      let step = run.steps.first(where: { $0.id.name == hit.step })
    else { return nil }
    let digest = Digest(hex: hit.recording)
    var paths = [hit.path]
    if let digest { paths.append(layout.artifact(digest)) }
    var inputs: [StepID: Checkpoint] = [:]
    for step in run.steps {
      if let key = step.key {
        inputs[step.id] = try withDatabase { (database) throws(SpoolError) in
          try CheckpointTable.checkpoint(for: key, in: &database)
        }
      }
    }
    guard let heard = inputs[step.id]?.components.inputs[.sound] else {
      return SearchSound(paths: paths, digest: digest, kinds: nil, kept: nil)
    }
    var kinds: Set<String>? = []
    var waiting = [heard]
    var seen: Set<Digest> = []
    while let next = waiting.popLast() {
      guard next != digest, seen.insert(next).inserted else { continue }
      let makers = run.steps.filter { $0.outputs.values.contains { $0.identity == next } }
      if makers.isEmpty { kinds = nil }
      for maker in makers {
        kinds?.insert(maker.kind)
        waiting += inputs[maker.id].map { Array($0.components.inputs.values) } ?? []
      }
    }
    let kept = inputs.values.flatMap(\.outputs.values).first {
      $0.identity == heard && $0.kind == .sound && $0.artifact.map(layout.holds) == true
    }?.artifact
    return SearchSound(paths: paths, digest: digest, kinds: kinds, kept: kept)
  }
}

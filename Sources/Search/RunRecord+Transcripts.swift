package import PipelineModel
package import Platform

/// The provenance of words in a run.
extension RunRecord {
  /// A transcript of a run that no other step of it has used.
  package struct ToldTranscript: Sendable {
    package let artifact: Artifact
    /// The step that made it.
    package let step: StepID
    /// The input whose words it has.
    package let input: String?
    /// Whether its words are those of a text that was given, and were not recognised.
    package let isAligned: Bool
  }

  /// The run's transcripts that no other step of it has used.
  package func transcripts(
    in store: any ArtifactStore
  ) throws(SpoolError) -> [ToldTranscript] {
    let giving = steps.filter { step in
      step.outputs.values.contains { $0.kind == .transcript && $0.artifact != nil }
    }
    if giving.isEmpty { return [] }
    let inputs = try stepInputs(in: store)
    let used = Set(giving.flatMap { inputs[$0.id].map { Array($0.values) } ?? [] })
    return giving.flatMap { step in
      step.outputs.values.compactMap { output in
        guard let artifact = output.artifact, output.kind == .transcript,
          !used.contains(output.identity)
        else { return nil }
        return ToldTranscript(
          artifact: artifact, step: step.id, input: recording(of: inputs[step.id] ?? [:], inputs),
          isAligned: isAligned(step, inputs))
      }
    }
  }

  /// What each step was made of, where that is known: as the run has recorded it, or in old records as
  /// the step's checkpoint says.
  func stepInputs(
    in store: any ArtifactStore
  ) throws(SpoolError) -> [StepID: [PortName: Digest]] {
    var inputs: [StepID: [PortName: Digest]] = [:]
    for step in steps {
      inputs[step.id] = step.inputs
      guard step.inputs == nil, let key = step.key else { continue }
      inputs[step.id] = try store.checkpoint(for: key)?.components.inputs
    }
    return inputs
  }

  /// Whether a step is an alignment, or has its words from one.
  private func isAligned(
    _ step: StepRecord, _ inputs: [StepID: [PortName: Digest]]
  ) -> Bool {
    var waiting = [step]
    var seen: Set<StepID> = []
    while let next = waiting.popLast() {
      guard seen.insert(next.id).inserted else { continue }
      if next.kind == "align" { return true }
      let used = Set((inputs[next.id] ?? [:]).values)
      waiting += steps.filter { maker in
        maker.outputs.values.contains { $0.kind == .transcript && used.contains($0.identity) }
      }
    }
    return false
  }

  /// The input that a step's sound was made of, directly or through other steps. If the checkpoints are
  /// gone, the first that is no text.
  private func recording(
    of own: [PortName: Digest], _ inputs: [StepID: [PortName: Digest]]
  ) -> String? {
    var waiting = own[.sound].map { [$0] } ?? Array(own.values)
    var seen: Set<Digest> = []
    while let next = waiting.popLast() {
      guard seen.insert(next).inserted else { continue }
      if let name = recordings?.filter({ $0.value == next }).keys.min() { return name }
      for maker in steps where maker.outputs.values.contains(where: { $0.identity == next }) {
        waiting += (inputs[maker.id] ?? [:]).values.sorted { $0.hex < $1.hex }
      }
    }
    let texts = Set(own.values)
    let names = self.inputs.keys.sorted()
    return names.first { name in recordings?[name].map { !texts.contains($0) } ?? false }
      ?? names.first
  }
}

internal import PipelineModel
internal import Platform

/// Of which recording a transcript tells, and which run has made it.
struct TranscriptSource: Hashable, Sendable {
  let run: RunID
  let step: StepID
  let pipeline: String
  /// The recording's file when the run read it.
  let path: String
  /// The recording's file without its folder.
  let name: String
  /// The recording's digest; its path where nobody has taken one.
  let recording: String
  /// When the run ended, in seconds since 1970.
  let time: Double
  /// The transcript.
  let transcript: Artifact

  /// What a run tells, by every step that gives words which no other step has put better.
  /// - Parameter components: what a checkpoint was made of.
  static func all(
    of run: RunRecord, components: (Checkpoint.Key) throws(SpoolError) -> KeyComponents?
  ) throws(SpoolError) -> [TranscriptSource] {
    let giving = run.steps.filter { step in
      step.outputs.values.contains { $0.kind == .transcript && $0.artifact != nil }
    }
    if giving.isEmpty { return [] }
    var inputs: [StepID: [PortName: Digest]] = [:]
    for step in run.steps {
      if let key = step.key { inputs[step.id] = try components(key)?.inputs ?? [:] }
    }
    let taken = Set(giving.flatMap { inputs[$0.id].map { Array($0.values) } ?? [] })
    var tellings: [TranscriptSource] = []
    for step in giving {
      for output in step.outputs.values where output.kind == .transcript {
        guard let transcript = output.artifact, !taken.contains(output.identity) else { continue }
        let input = recording(heardBy: step, of: run, inputs)
        let path = input.flatMap { run.inputs[$0] } ?? ""
        tellings.append(
          TranscriptSource(
            run: run.id, step: step.id, pipeline: run.pipeline, path: path,
            name: path.split(separator: "/").last.map(String.init) ?? path,
            recording: input.flatMap { run.recordings?[$0]?.hex } ?? path,
            time: run.finishedAt ?? run.startedAt, transcript: transcript))
      }
    }
    return tellings
  }

  /// The input of the run that a step's sound comes from: what its sound was made of is followed back,
  /// step by step. Where the checkpoints are gone, the first that is no text.
  private static func recording(
    heardBy step: StepRecord, of run: RunRecord, _ inputs: [StepID: [PortName: Digest]]
  ) -> String? {
    let own = inputs[step.id] ?? [:]
    var waiting = own[.sound].map { [$0] } ?? Array(own.values)
    var seen: Set<Digest> = []
    while let next = waiting.popLast() {
      guard seen.insert(next).inserted else { continue }
      if let name = run.recordings?.filter({ $0.value == next }).keys.min() { return name }
      for maker in run.steps where maker.outputs.values.contains(where: { $0.identity == next }) {
        waiting += (inputs[maker.id] ?? [:]).values.sorted { $0.hex < $1.hex }
      }
    }
    let texts = Set(own.values)
    let names = run.inputs.keys.sorted()
    return names.first { name in run.recordings?[name].map { !texts.contains($0) } ?? false }
      ?? names.first
  }
}

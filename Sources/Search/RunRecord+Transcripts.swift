package import PipelineModel
package import Platform
package import Transcripts

/// The provenance of words in a run.
extension RunRecord {
  /// The words of a recording that a run found, as they were heard, and as the run moved them.
  package struct ToldTranscript: Sendable {
    /// A transcript, and the step that made it.
    package struct Source: Sendable {
      package let step: StepID
      package let artifact: Artifact
    }

    /// The words with the times of the sound in which they were heard. Another step has moved them if
    /// ``moved`` is not nil.
    package let heard: Source
    /// The same words where stages have moved their sound, and how; nil if they were not moved.
    package let moved: (source: Source, by: TimelineMap)?
    /// The inputs in whose sound they were heard, in its order: several for a sound that was joined or
    /// mixed of them. A text only where no sound is known.
    package let inputs: [String]
    /// The recording: the digest of its file, or of the whole that several make, whose words belong to
    /// none of them alone; nil if unknown.
    package let recording: Digest?
    /// What tells the recording's sound from any other, in whatever files it is; nil if unknown.
    package let sound: Digest?
    /// Whether they are those of a text that was given, and were not recognised.
    package let isAligned: Bool

    /// What the run gave in the end.
    package var result: Source { moved?.source ?? heard }
    /// Whether they are of a sound that was made of several recordings.
    package var isOfWhole: Bool { inputs.count > 1 }
  }

  /// The run's transcripts, in the order of its steps.
  /// - Parameter stage: the step whose words are wanted, used by others or not; nil for all those that
  ///   no other step of the run has used.
  package func transcripts(
    of stage: StepID? = nil, in store: any ArtifactStore
  ) throws(SpoolError) -> [ToldTranscript] {
    let giving = steps.filter { step in
      step.outputs.values.contains { $0.kind == .transcript && $0.artifact != nil }
    }
    if giving.isEmpty { return [] }
    let inputs = try stepInputs(in: store)
    let origin = WordOrigin(run: self, inputs: inputs)
    return giving.enumerated().filter { stage == nil || $1.id == stage }.flatMap { index, step in
      // A step's own words may be those that it was given, where it moved none.
      let used = Set(
        giving[(index + 1)...].flatMap { inputs[$0.id].map { Array($0.values) } ?? [] })
      return step.outputs.sorted { $0.key < $1.key }.compactMap { _, output -> ToldTranscript? in
        guard let artifact = output.artifact, output.kind == .transcript,
          stage != nil || !used.contains(output.identity)
        else { return nil }
        return origin.transcript(ToldTranscript.Source(step: step.id, artifact: artifact), step)
      }
    }
  }

  /// The run's transcripts, each of those once that were heard and then moved in several ways.
  func heardTranscripts(in store: any ArtifactStore) throws(SpoolError) -> [ToldTranscript] {
    var steps: Set<StepID> = []
    return try transcripts(in: store).filter { steps.insert($0.heard.step).inserted }
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

  /// What tells the sound of a recording from any other: the identities of what `decode` made of it.
  /// Empty if that is unknown. O(steps).
  package func sounds(of recording: Digest) -> Set<Digest> {
    Set(
      steps.filter { $0.kind == "decode" && $0.inputs?.values.contains(recording) == true }
        .flatMap { $0.outputs.values.filter { $0.kind == .sound }.map(\.identity) })
  }
}

/// Follows words back through the steps of a run. A pure value.
private struct WordOrigin {
  let run: RunRecord
  let inputs: [StepID: [PortName: Digest]]

  func transcript(
    _ source: RunRecord.ToldTranscript.Source, _ step: StepRecord
  ) -> RunRecord.ToldTranscript {
    let heard = heard(step)
    let recordings = recordings(of: step.id)
    let digests = recordings.compactMap { run.recordings?[$0] }
    let isKnown = digests.count == recordings.count
    return RunRecord.ToldTranscript(
      heard: heard?.source ?? source, moved: heard.map { (source, $0.map) }, inputs: recordings,
      recording: isKnown ? Self.whole(of: digests) : nil,
      sound: isKnown ? sound(of: digests) : nil, isAligned: isAligned(step))
  }

  /// One digest stands for itself, and several for what they make in this order; nil for none.
  private static func whole(of digests: [Digest]) -> Digest? {
    if digests.count < 2 { return digests.first }
    return SHA256.digest(of: "spool-whole-1\n" + digests.map(\.hex).joined(separator: "\n"))
  }

  /// What tells the sound of recordings from any other. A part of several that was not decoded by
  /// itself is known by its file.
  private func sound(of recordings: [Digest]) -> Digest? {
    let sounds = recordings.compactMap { recording in
      run.sounds(of: recording).min { $0.hex < $1.hex } ?? (recordings.count > 1 ? recording : nil)
    }
    return Self.whole(of: sounds)
  }

  /// The words that steps `retime` moved, and how they did; nil if they moved none, or in an unknown way.
  private func heard(
    _ step: StepRecord
  ) -> (source: RunRecord.ToldTranscript.Source, map: TimelineMap)? {
    var found: (source: RunRecord.ToldTranscript.Source, map: TimelineMap)?
    var step = step
    for _ in run.steps where step.kind == "retime" {
      guard let own = inputs[step.id], let changes = run.steps.changes(of: step, made: own),
        !changes.isEmpty,
        let words = own[PortName("transcript")], let earlier = run.steps.maker(of: words),
        let artifact = earlier.outputs.values.first(where: { $0.identity == words })?.artifact
      else { break }
      let map = changes.dropFirst().reduce(changes[0]) { $0.followed(by: $1) }
      found = (
        RunRecord.ToldTranscript.Source(step: earlier.id, artifact: artifact),
        found.map { map.followed(by: $0.map) } ?? map
      )
      step = earlier
    }
    return found
  }

  /// Whether a step is an alignment, or has its words from one.
  private func isAligned(_ step: StepRecord) -> Bool {
    var waiting = [step]
    var seen: Set<StepID> = []
    while let next = waiting.popLast() {
      guard seen.insert(next.id).inserted else { continue }
      if next.kind == "align" { return true }
      let used = Set((inputs[next.id] ?? [:]).values)
      waiting += run.steps.filter { maker in
        maker.outputs.values.contains { $0.kind == .transcript && used.contains($0.identity) }
      }
    }
    return false
  }

  /// The inputs in whose sound the words of a step were heard, directly or through other steps. If
  /// that is unknown, as where the checkpoints of an old run are gone, the first that is no text; a
  /// text only where there is nothing else.
  private func recordings(of step: StepID) -> [String] {
    var seen: Set<Digest> = []
    var found: [String] = []
    if let sound = sound(of: step, &seen) { gather(sound, into: &found) }
    if !found.isEmpty { return found }
    let texts = inputs.values.compactMap { $0[Self.transcript].flatMap(input) }
    let names = run.soundInputs ?? run.orderedInputs.map(\.name).filter { !texts.contains($0) }
    return (names.first ?? run.orderedInputs.first?.name).map { [$0] } ?? []
  }

  /// The first sound that a step was made of: its own before that of its words, and both before all else.
  private func sound(of step: StepID, _ seen: inout Set<Digest>) -> Digest? {
    let own = ordered(step)
    let inOrder =
      own.filter { $0.port == .sound } + own.filter { $0.port == Self.transcript }
      + own.filter { $0.port != .sound && $0.port != Self.transcript }
    for (port, identity) in inOrder where seen.insert(identity).inserted {
      if let input = input(identity) {
        if isSound(input, at: port) { return identity }
      } else if let maker = run.steps.maker(of: identity) {
        if maker.gives(identity, .sound) { return identity }
        if let sound = sound(of: maker.id, &seen) { return sound }
      }
    }
    return nil
  }

  /// Adds the recordings that a sound was made of, in the order of the ports that took them.
  private func gather(_ sound: Digest, into found: inout [String]) {
    if let input = input(sound) {
      if !found.contains(input) { found.append(input) }
      return
    }
    guard let maker = run.steps.maker(of: sound) else { return }
    for (port, identity) in ordered(maker.id) {
      let maker = run.steps.maker(of: identity)
      if input(identity).map({ isSound($0, at: port) }) ?? maker?.gives(identity, .sound) == true {
        gather(identity, into: &found)
      }
    }
  }

  private static let transcript = PortName("transcript")

  /// What a step was made of, in the order of its ports and of their lists.
  private func ordered(_ step: StepID) -> [(port: PortName, identity: Digest)] {
    (inputs[step] ?? [:]).sorted {
      RunRecord.listPlace($0.key.name) < RunRecord.listPlace($1.key.name)
    }.map { ($0.key, $0.value) }
  }

  private func input(_ identity: Digest) -> String? {
    run.orderedInputs.first { run.recordings?[$0.name] == identity }?.name
  }

  /// Whether an input is sound; in old records, by the port that took it.
  private func isSound(_ input: String, at port: PortName) -> Bool {
    run.soundInputs?.contains(input) ?? (port != Self.transcript && port != PortName("session"))
  }
}

extension StepRecord {
  fileprivate func gives(_ identity: Digest, _ kind: ArtifactKind) -> Bool {
    outputs.values.contains { $0.identity == identity && $0.kind == kind }
  }
}

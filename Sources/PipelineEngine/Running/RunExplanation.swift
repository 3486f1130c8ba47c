package import PipelineModel
package import Platform

/// Explains a run from its records: for each step, why it was made or reused.
package struct RunExplanation: Sendable {
  package let run: RunRecord
  private let earlier: [RunRecord]
  /// The runs that began after it, the first of them first.
  private let later: [RunRecord]
  private let store: any ArtifactStore
  private let catalog: StageCatalog

  /// - Parameter history: all runs, newest first.
  package init(
    _ run: RunRecord, history: [RunRecord], store: any ArtifactStore, catalog: StageCatalog
  ) {
    self.run = run
    earlier = history.drop { $0.id != run.id }.filter { $0.id != run.id }
    later = history.prefix { $0.id != run.id }.reversed()
    self.store = store
    self.catalog = catalog
  }

  /// Why a step was made or reused. Searches the earlier runs, newest first, and those that began
  /// later: of several at the same work at once, any may be the one that does it.
  package func reason(of step: StepRecord) throws(SpoolError) -> Reason {
    if step.outcome == .failed {
      // Records of 0.1 name the step in the run's failure only.
      let name = "\(step.id): "
      let failure =
        step.failure
        ?? run.failure.map { $0.hasPrefix(name) ? String($0.dropFirst(name.count)) : $0 }
      return step.key == nil ? .failed(failure) : .unpublished(failure)
    }
    guard let key = step.key else {
      let isBegun = step.outcome == .pending && step.begunAt != nil
      return isBegun ? .begun(run.state) : .notDone(step.outcome)
    }
    switch step.outcome {
    case .reused:
      if let twin = run.steps.first(where: { $0.key == key && $0.outcome == .made }) {
        return .sameWork(as: twin.id)
      }
      if let maker = maker(of: key, before: run.finishedAt) { return .reused(madeBy: maker) }
      if let cutOff = unfinished(before: step) { return .reusedOfLostRecord(probably: cutOff.id) }
      // A clock that was set back gives an earlier maker a later time.
      if let maker = nearest(in: later.filter { $0.made(key) != nil }, by: key) {
        return .reused(madeBy: maker.id)
      }
      return .reusedOfLostRecord(probably: nil)
    case .made:
      if let maker = maker(of: key, before: step.finishedAt ?? run.startedAt) {
        // Without outputs, all that it gives is files outside of the store, and the key is that of
        // every recording.
        return step.outputs.isEmpty ? .written : .madeAgain(after: maker)
      }
      return try comparison(of: step, key)
    case .skipped, .failed, .pending: return .notDone(step.outcome)
    }
  }

  /// Why a reused step wrote files again.
  package enum Rewriting: Hashable, Sendable {
    /// No earlier run had written them to this place.
    case newPlace
    /// The sidecar of a recording has other chapters, or another title.
    case chapters
    case title
    /// A recording's file has changed, and not its sound: its tags, say.
    case recording
    /// The files had been written for another text, or another file that is no sound.
    case text
    /// The pipeline or one of its values has changed, and not what the step makes.
    case pipeline
    /// The records show no difference: a file named in the pipeline, such as a cover, has changed, or the
    /// files were not as they had been written.
    case unrecorded
  }

  /// Why a reused step wrote files again, compared with the newest earlier run that had written them; empty
  /// if it wrote none.
  package func rewriting(of step: StepRecord) -> [Rewriting] {
    guard step.outcome == .reused,
      let file = run.published.first(where: { $0.step == step.id && !$0.wasThere })
    else { return [] }
    guard
      let last = earlier.first(where: { other in
        other.published.contains { $0.path == file.path }
      })
    else { return [.newPlace] }
    var found: [Rewriting] = []
    if run.request?.chapters != last.request?.chapters { found.append(.chapters) }
    if run.request?.titles != last.request?.titles { found.append(.title) }
    let changed = Set((run.recordings ?? [:]).keys).union((last.recordings ?? [:]).keys)
      .filter { run.recordings?[$0] != last.recordings?[$0] }
    let isSound = changed.contains { run.soundInputs?.contains($0) ?? true }
    if !changed.isEmpty { found.append(isSound ? .recording : .text) }
    if run.request?.pipelineText != last.request?.pipelineText || run.overrides != last.overrides {
      found.append(.pipeline)
    }
    return found.isEmpty ? [.unrecorded] : found
  }

  /// Where a step resumed the work of an earlier run: seconds of the recording, and that run if
  /// recorded. Nil for a step that was done from its beginning.
  package func resumption(of step: StepRecord) -> (seconds: Double, of: RunID?)? {
    guard step.outcome == .made, let seconds = step.resumedAtSeconds else { return nil }
    return (seconds, run.resumes ?? unfinished(before: step)?.id)
  }

  /// The newest earlier run of the same recording that did not end well nor reach this step, by its
  /// record; without one, such a run that began during this one.
  private func unfinished(before step: StepRecord) -> RunRecord? {
    let beside = later.filter { $0.startedAt < run.finishedAt ?? .infinity }
    return (earlier + beside).first { other in
      other.state != .done && other.pipeline == run.pipeline && shareRecording(run, other)
        && !other.steps.contains { $0.id == step.id && [.made, .reused].contains($0.outcome) }
    }
  }

  /// The newest earlier run that did this work; without one, the run that began later and had done
  /// it by this time, in seconds since 1970, nil for an unfinished run.
  private func maker(of key: Checkpoint.Key, before time: Double?) -> RunID? {
    if let maker = nearest(in: earlier.filter { $0.made(key) != nil }, by: key) {
      return maker.id
    }
    return nearest(
      in: later.reversed().filter { other in
        guard let finishedAt = other.made(key)?.finishedAt else { return false }
        return finishedAt <= time ?? .infinity
      }, by: key)?.id
  }

  /// Of runs that did the same work, the first of the same recording. A receipt's work has the same key
  /// for several recordings and pipelines, and is no artifact: its files lie in the run's folder.
  private func nearest(in makers: [RunRecord], by key: Checkpoint.Key) -> RunRecord? {
    let siblings = makers.filter { shareRecording(run, $0) }
    let isArtifact = makers.contains { $0.made(key)?.outputs.isEmpty == false }
    let nearest =
      isArtifact
      ? nil
      : siblings.first { $0.pipeline == run.pipeline && $0.request?.folder == run.request?.folder }
        ?? siblings.first { $0.pipeline == run.pipeline }
    return nearest ?? siblings.first ?? makers.first
  }

  private func comparison(
    of step: StepRecord, _ key: Checkpoint.Key
  ) throws(SpoolError) -> Reason {
    let siblings = earlier.filter { $0.pipeline == run.pipeline }
    let candidates = candidates(for: step, among: siblings)
    guard let nearest = candidates.first else {
      // An earlier run that only reused this run's work had done none of it before.
      let own = Set(run.steps.filter { $0.outcome == .made }.map(\.key))
      return .firstTime(
        isFirstRun: !siblings.contains { other in
          other.steps.contains { $0.key != nil && !own.contains($0.key) }
        })
    }
    guard let new = try store.checkpoint(for: key)?.components else { return .forgotten }
    let parameters = catalog[new.kind]?.descriptor.parameters ?? []
    for (other, oldKey) in candidates {
      guard let old = try store.checkpoint(for: oldKey)?.components else { continue }
      var changes = new.changes(since: old, parameters: parameters)
      // Other words have other corrected ones, though the corrections be the same.
      if changes.contains(where: \.isOfInput) { changes.removeAll(where: \.isOfCorrections) }
      return .changed(
        changes.map { cause(of: $0, in: step, since: other) }, since: other.id)
    }
    return .incomparable(with: nearest.0.id)
  }

  /// The earlier runs that did this step, with their keys: those with the most equal inputs first,
  /// and of these the newest; of the same recording only, if there are any. A run that came to the
  /// same work only afterwards, and reused it, does not count.
  private func candidates(
    for step: StepRecord, among siblings: [RunRecord]
  ) -> [(RunRecord, Checkpoint.Key)] {
    let candidates = siblings.compactMap { other in
      counterpart(of: step, in: other)?.key.map { (other, $0) }
    }.filter { $0.1 != step.key }
    let near = candidates.filter { shareRecording(run, $0.0) }
    let ranked = (near.isEmpty ? candidates : near).enumerated().map { place, candidate in
      (candidate: candidate, likeness: likeness(to: candidate.0), place: place)
    }
    return ranked.sorted {
      $0.likeness != $1.likeness ? $0.likeness > $1.likeness : $0.place < $1.place
    }.map(\.candidate)
  }

  /// The number of inputs whose content is that of another run's; in old records, whose path is.
  private func likeness(to other: RunRecord) -> Int {
    run.inputs.count { name, path in
      if let own = run.recordings?[name], let theirs = other.recordings {
        return theirs[name] == own
      }
      return other.inputs[name] == path
    }
  }

  /// The step of the same name, or else of the same kind at the same place.
  private func counterpart(of step: StepRecord, in other: RunRecord) -> StepRecord? {
    if let same = other.steps.first(where: { $0.id == step.id }) {
      return same.key == nil ? nil : same
    }
    guard let index = run.steps.firstIndex(where: { $0.id == step.id }),
      other.steps.indices.contains(index), other.steps[index].kind == step.kind,
      other.steps[index].key != nil
    else { return nil }
    return other.steps[index]
  }

  private func shareRecording(_ a: RunRecord, _ b: RunRecord) -> Bool {
    !Set(a.inputs.values).isDisjoint(with: b.inputs.values)
      || !Set((a.recordings ?? [:]).values).isDisjoint(with: (b.recordings ?? [:]).values)
  }

  /// A change of an input is explained by the step or the file that it came from.
  private func cause(
    of change: KeyChange, in step: StepRecord, since other: RunRecord
  ) -> Change {
    guard case .input(let port, let old?, let new?) = change else { return .key(change) }
    let now = giver(of: new, in: run, to: step)
    let then = giver(of: old, in: other, to: counterpart(of: step, in: other) ?? step)
    if let now, let then, now == then || !run.steps.contains(where: { $0.id == then }) {
      return .upstream(port, now, from: old, to: new)
    }
    if now != nil || then != nil { return .source(port, from: then, to: now) }
    guard let name = input(new, of: run), let path = run.inputs[name],
      let before = other.inputs[input(old, of: other) ?? name]
    else { return .key(change) }
    return .recording(
      name, from: RecordingIdentity(path: before, digest: old),
      to: RecordingIdentity(path: path, digest: new))
  }

  /// The step above whose output this is. One below may have written a file of the same bytes.
  private func giver(of identity: Digest, in run: RunRecord, to step: StepRecord) -> StepID? {
    run.steps.prefix { $0.id != step.id }
      .first { $0.outputs.values.contains { $0.identity == identity } }?.id
  }

  /// The input whose file this is. An old record without file digests must have only one.
  private func input(_ identity: Digest, of run: RunRecord) -> String? {
    guard let recordings = run.recordings else {
      return run.inputs.count == 1 ? run.inputs.keys.first : nil
    }
    return recordings.first { $0.value == identity }?.key
  }
}

extension RunRecord {
  /// The step that did this work in the run; nil if the run did not do it. A step whose files could
  /// not be published failed only after its work.
  fileprivate func made(_ key: Checkpoint.Key) -> StepRecord? {
    steps.first { $0.key == key && ($0.outcome == .made || $0.finishedAt != nil) }
  }
}

extension KeyChange {
  fileprivate var isOfInput: Bool { if case .input = self { true } else { false } }

  fileprivate var isOfCorrections: Bool {
    if case .parameter(PortName.corrected.name, _, _) = self { true } else { false }
  }
}

extension RunExplanation {
  /// Why a step of a run was made or reused.
  package enum Reason: Hashable, Sendable {
    /// Its output existed: made by this run.
    case reused(madeBy: RunID)
    /// Its output existed, and the record of the run that made it was lost: probably this one, which
    /// was cut off before that step by its record; nil if no such run is known.
    case reusedOfLostRecord(probably: RunID?)
    /// Another step of the same run had done the same work.
    case sameWork(as: StepID)
    /// No earlier run of the pipeline had the step, or, if `isFirstRun`, there was none at all.
    case firstTime(isFirstRun: Bool)
    /// It was other work than in an earlier run.
    case changed([Change], since: RunID)
    /// The same work was done before, and its output was no longer in the store.
    case madeAgain(after: RunID)
    /// A receipt that was not there yet.
    case written
    /// The step's key components are no longer in the store.
    case forgotten
    /// This run, the nearest, did other work, and its key components are not in the store.
    case incomparable(with: RunID)
    /// In progress when the run ended this way, or still.
    case begun(RunRecord.State)
    /// With the recorded reason, if any.
    case failed(String?)
    /// Done, but some of its files could not be published, for this reason.
    case unpublished(String?)
    /// Neither done nor begun in this run.
    case notDone(StepRecord.Outcome)
  }

  /// The cause of a change of a step's work.
  package enum Change: Hashable, Sendable {
    /// A component of its key.
    case key(KeyChange)
    /// The output of a step above changed at this port.
    case upstream(PortName, StepID, from: Digest, to: Digest)
    /// The port has another source: a step, or nil for an input file.
    case source(PortName, from: StepID?, to: StepID?)
    /// An input file has other bytes; the paths tell whether it is another file.
    case recording(String, from: RecordingIdentity, to: RecordingIdentity)
  }
}

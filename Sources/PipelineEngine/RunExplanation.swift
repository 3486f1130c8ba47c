import Hashing
public import PipelineModel

/// Explains a run from what is recorded: for each step, why it was made or reused.
public struct RunExplanation: Sendable {
  /// The run.
  public let run: RunRecord
  private let earlier: [RunRecord]
  /// Those that began after it, the first of them first.
  private let later: [RunRecord]
  private let store: any ArtifactStore
  private let catalog: StageCatalog

  /// Prepares to explain a run.
  /// - Parameter history: all runs, newest first.
  public init(
    _ run: RunRecord, history: [RunRecord], store: any ArtifactStore, catalog: StageCatalog
  ) {
    self.run = run
    earlier = history.drop { $0.id != run.id }.filter { $0.id != run.id }
    later = history.prefix { $0.id != run.id }.reversed()
    self.store = store
    self.catalog = catalog
  }

  /// Why a step was made or reused. Looks through the earlier runs, newest first, and through those
  /// that began later: of several that are at the same work at once, any may be the one that does it.
  public func reason(of step: StepRecord) throws(StoreError) -> StepReason {
    if step.outcome == .failed {
      return step.key == nil ? .failed(failure(of: step)) : .unpublished(failure(of: step))
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
      if let maker = later.first(where: { $0.made(key) != nil }) {
        return .reused(madeBy: maker.id)
      }
      return .reusedOfLostRecord(probably: nil)
    case .made:
      if let maker = maker(of: key, before: step.finishedAt ?? run.startedAt) {
        return .madeAgain(after: maker)
      }
      return try comparison(of: step, key)
    case .skipped, .failed, .pending: return .notDone(step.outcome)
    }
  }

  /// What ended the run at this step, without the step's name.
  private func failure(of step: StepRecord) -> String? {
    guard let failure = run.failure else { return nil }
    let name = "\(step.id): "
    return failure.hasPrefix(name) ? String(failure.dropFirst(name.count)) : failure
  }

  /// Where a step went on that an earlier run had left unfinished: seconds of the recording, and
  /// that run, as far as one is recorded. Nil for a step that was done from its beginning.
  public func resumption(of step: StepRecord) -> (seconds: Double, of: RunID?)? {
    guard step.outcome == .made, let seconds = step.resumedAtSeconds else { return nil }
    return (seconds, run.resumes ?? unfinished(before: step)?.id)
  }

  /// The newest earlier run of the same recording that did not come to its end nor, by its record, to
  /// this step; where there is none, such a run that began while this one was under way.
  private func unfinished(before step: StepRecord) -> RunRecord? {
    let beside = later.filter { $0.startedAt < run.finishedAt ?? .infinity }
    return (earlier + beside).first { other in
      other.state != .done && other.pipeline == run.pipeline && shareRecording(run, other)
        && !other.steps.contains { $0.id == step.id && [.made, .reused].contains($0.outcome) }
    }
  }

  /// The newest earlier run that did this work; where there is none, the run that began later and had
  /// done it by this time, in seconds since 1970, which is nil while there is no end of it.
  private func maker(of key: Checkpoint.Key, before time: Double?) -> RunID? {
    if let maker = earlier.first(where: { $0.made(key) != nil }) { return maker.id }
    return later.last { other in
      guard let finishedAt = other.made(key)?.finishedAt else { return false }
      return finishedAt <= time ?? .infinity
    }?.id
  }

  private func comparison(
    of step: StepRecord, _ key: Checkpoint.Key
  ) throws(StoreError) -> StepReason {
    let siblings = earlier.filter { $0.pipeline == run.pipeline }
    let candidates = candidates(for: step, among: siblings)
    guard let nearest = candidates.first else {
      // An earlier run that only reused what this one made had done nothing of it before.
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
      return .changed(
        new.changes(since: old, parameters: parameters).map { cause(of: $0, since: other) },
        since: other.id)
    }
    return .incomparable(with: nearest.0.id)
  }

  // MARK: What to compare with

  /// The earlier runs that did this step, newest first, with the keys of what they did: of the same
  /// recording only, if there are any. One that came to the very same work only afterwards, and reused
  /// it, tells nothing.
  private func candidates(
    for step: StepRecord, among siblings: [RunRecord]
  ) -> [(RunRecord, Checkpoint.Key)] {
    let candidates = siblings.compactMap { other in
      counterpart(of: step, in: other)?.key.map { (other, $0) }
    }.filter { $0.1 != step.key }
    let near = candidates.filter { shareRecording(run, $0.0) }
    return near.isEmpty ? candidates : near
  }

  /// The step of the same name, or, where the other run has none of that name, of the same kind at
  /// the same place.
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

  // MARK: Causes

  /// A change of an input is told by the step or the file that it came from.
  private func cause(of change: KeyChange, since other: RunRecord) -> StepChange {
    guard case .input(let port, let old?, let new?) = change else { return .key(change) }
    let now = giver(of: new, in: run)
    let then = giver(of: old, in: other)
    if let now, let then, now == then || !run.steps.contains(where: { $0.id == then }) {
      return .upstream(port, now, from: old, to: new)
    }
    if now != nil || then != nil { return .source(port, from: then, to: now) }
    guard let name = input(new, of: run), let path = run.inputs[name],
      let before = other.inputs[input(old, of: other) ?? name]
    else { return .key(change) }
    return .recording(
      name, from: GivenFile(path: before, digest: old), to: GivenFile(path: path, digest: new))
  }

  /// The step whose output this is.
  private func giver(of identity: Digest, in run: RunRecord) -> StepID? {
    run.steps.first { $0.outputs.values.contains { $0.identity == identity } }?.id
  }

  /// The input whose file this is. A record from before files were noted has to have only one.
  private func input(_ identity: Digest, of run: RunRecord) -> String? {
    guard let recordings = run.recordings else {
      return run.inputs.count == 1 ? run.inputs.keys.first : nil
    }
    return recordings.first { $0.value == identity }?.key
  }
}

extension RunRecord {
  /// The step that did this work in the run; nil where the run did not do it. One whose files did not
  /// get into the user's folder failed only after that.
  fileprivate func made(_ key: Checkpoint.Key) -> StepRecord? {
    steps.first { $0.key == key && ($0.outcome == .made || $0.finishedAt != nil) }
  }
}

import PipelineModel

/// What a run goes on with: the work of earlier runs, and how much of that is lost.
extension Runner {
  /// Tells where a pass begins. An earlier process's work is gone on with, or there is a reason why
  /// not.
  /// - Parameters:
  ///   - seconds: the place, in seconds of the recording.
  ///   - inHand: seconds of work that were not in an earlier process's last note.
  func tellBeginning(
    of steps: [StepID], at seconds: Double, of total: Double?, inHand: Double,
    _ claim: any WorkClaim, _ run: RunRecord, _ resumption: Resumption
  ) {
    if let lostSeconds = claim.lostSeconds, claim.setback == nil {
      resumption.note(seconds)
      recorder.record(
        .resumed(
          steps: steps, atSeconds: seconds, ofSeconds: total, lostSeconds: lostSeconds + inHand))
      return
    }
    let lost = resumption.earlier.map { loss(of: $0, to: run) }
    guard let setback = setback(of: claim, under: run) ?? lost else { return }
    resumption.note(setback, of: steps)
    let lostSeconds = claim.lostSeconds ?? resumption.earlier?.lostSeconds(by: setback.cause)
    recorder.record(.beganAnew(steps: steps, setback, lostSeconds: lostSeconds))
  }

  /// Why work begins anew that somebody was at before; nil where it does not.
  func setback(of claim: any WorkClaim, under run: RunRecord) -> Setback? {
    switch claim.setback {
    case nil: nil
    case .damagedNote:
      Setback(
        .damaged, at: clock.now, run: earlierRun(than: run)?.id, part: "what was noted of the work")
    case .takenOver(let owner):
      Setback(
        .takenOver, at: clock.now, run: runUnderWay(on: run),
        processNumber: owner.processNumber > 0 ? owner.processNumber : nil)
    }
  }

  /// Why nothing of what an earlier run had begun is gone on with, although it was told the same.
  private func loss(of earlier: RunRecord, to run: RunRecord) -> Setback {
    let changed = (earlier.recordings ?? [:]).sorted { $0.key < $1.key }.first { name, digest in
      run.recordings?[name].map { $0 != digest } ?? false
    }
    return Setback(
      changed == nil ? .notesLost : .recordingChanged, at: clock.now, run: earlier.id,
      part: changed.flatMap { run.inputs[$0.key] })
  }

  /// The run that this one takes up, if that stopped in the middle of its work.
  func earlierRun(than run: RunRecord) -> RunRecord? {
    let runs = try? log.runs(limit: Self.historyLimit)
    let earlier = runs?.first { $0.id != run.id && $0.isTakenUp(by: run) }
    return earlier.flatMap { $0.isUnfinished ? $0 : nil }
  }

  /// The run that is under way with the same recordings; of several, one that was told the same.
  private func runUnderWay(on run: RunRecord) -> RunID? {
    let files = run.recordings.map { Set($0.values) } ?? []
    let others = ((try? log.runs(limit: Self.historyLimit)) ?? []).filter { other in
      other.id != run.id && other.state == .running
        && !files.isDisjoint(with: (other.recordings ?? [:]).values)
    }
    return (others.first { $0.isTakenUp(by: run) } ?? others.first)?.id
  }
}

extension RunRecord {
  /// Seconds of this run's work that are lost, at most, where what it left is not gone on with. All of
  /// it, where it was of another recording; else what was put into the pass that it ended in. Nil where
  /// it was killed: then nobody noted when that was.
  fileprivate func lostSeconds(by cause: Setback.Cause) -> Double? {
    guard let finishedAt, let activeSeconds else { return nil }
    if cause == .recordingChanged { return activeSeconds }
    guard let begun = steps.filter({ $0.outcome == .pending }).compactMap(\.begunAt).min() else {
      return nil
    }
    return min(activeSeconds, max(0, finishedAt - begun))
  }
}

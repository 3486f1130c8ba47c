internal import PipelineModel
import Synchronization

/// Resuming the work of earlier runs, and how much of it is lost.
extension Execution {
  /// Reports where a pass begins, or why earlier work is not resumed.
  /// - Parameters:
  ///   - seconds: the place, in seconds of the recording.
  ///   - inHand: seconds of an earlier process's work after its last journal entry.
  func tellBeginning(
    of steps: [StepID], at seconds: Double, of total: Double?, inHand: Double,
    _ claim: any WorkClaim, _ run: RunRecord, _ resumption: Resumption
  ) {
    if let lostSeconds = claim.lostSeconds, claim.loss == nil {
      resumption.record(seconds)
      recorder.record(
        .resumed(
          steps: steps, atSeconds: seconds, ofSeconds: total, lostSeconds: lostSeconds + inHand))
      return
    }
    let lost = resumption.earlier.map { loss(of: $0, to: run) }
    guard let loss = loss(of: claim, under: run) ?? lost else { return }
    resumption.record(loss, of: steps)
    let lostSeconds = claim.lostSeconds ?? resumption.earlier?.lostSeconds(by: loss.cause)
    recorder.record(.beganAnew(steps: steps, loss, lostSeconds: lostSeconds))
  }

  /// Why begun work starts over; nil if it does not.
  func loss(of claim: any WorkClaim, under run: RunRecord) -> ResumeLoss? {
    switch claim.loss {
    case nil: nil
    case .damagedNote:
      ResumeLoss(
        .damaged, at: clock.now, run: earlierRun(than: run)?.id, part: "what was noted of the work")
    case .takenOver(let owner):
      ResumeLoss(
        .takenOver, at: clock.now, run: runUnderWay(on: run),
        processNumber: owner.processNumber > 0 ? owner.processNumber : nil)
    }
  }

  /// Why nothing of an earlier run's begun work is resumed, although its request was the same.
  private func loss(of earlier: RunRecord, to run: RunRecord) -> ResumeLoss {
    let changed = (earlier.recordings ?? [:]).sorted { $0.key < $1.key }.first { name, digest in
      run.recordings?[name].map { $0 != digest } ?? false
    }
    if let changed {
      return ResumeLoss(
        .recordingChanged, at: clock.now, run: earlier.id, part: run.inputs[changed.key])
    }
    let upgrade = (earlier.plugins ?? []).lazy.compactMap { old in
      run.plugins?.first { $0.kind == old.kind }?.change(since: old)
    }.first
    return ResumeLoss(
      upgrade == nil ? .notesLost : .pluginChanged, at: clock.now, run: earlier.id, part: upgrade)
  }

  /// The run that this one resumes, if that stopped in the middle of its work.
  func earlierRun(than run: RunRecord) -> RunRecord? {
    let runs = try? runner.log.newest(limit: Runner.historyLimit)
    let earlier = runs?.first { $0.id != run.id && $0.isTakenUp(by: run) }
    return earlier.flatMap { $0.isUnfinished ? $0 : nil }
  }

  /// The run in progress of the same recordings; of several, one with the same request.
  func runUnderWay(on run: RunRecord) -> RunID? {
    let files = run.recordings.map { Set($0.values) } ?? []
    let others = ((try? runner.log.newest(limit: Runner.historyLimit)) ?? []).filter { other in
      other.id != run.id && other.state == .running
        && !files.isDisjoint(with: (other.recordings ?? [:]).values)
    }
    return (others.first { $0.isTakenUp(by: run) } ?? others.first)?.id
  }
}

extension RunRecord {
  /// Seconds of this run's work that are lost, at most, if it is not resumed: all of it for another
  /// recording, else the work of its last pass. Nil if it was killed: the time is unknown.
  fileprivate func lostSeconds(by cause: ResumeLoss.Cause) -> Double? {
    guard let finishedAt, let activeSeconds else { return nil }
    if cause == .recordingChanged { return activeSeconds }
    guard let begun = steps.filter({ $0.outcome == .pending }).compactMap(\.begunAt).min() else {
      return nil
    }
    return min(activeSeconds, max(0, finishedAt - begun))
  }
}

extension Execution {
  /// Where a pass resumed, as its executor reports it, and which earlier work was useless.
  final class Resumption: Sendable {
    /// The unfinished run of the same work; nil if there is none, or if this run has already done
    /// something.
    let earlier: RunRecord?
    private let state = Mutex(
      (isOpen: false, seconds: Double?.none, setbacks: [StepID: ResumeLoss]()))

    init(after earlier: RunRecord?) { self.earlier = earlier }

    /// Whether what the pass begins with was opened, so that its work began.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Seconds of the recording; nil if the pass began at its beginning.
    var seconds: Double? { state.withLock { $0.seconds } }

    /// Why steps started over, or resumed further back than an earlier process had come.
    var setbacks: [StepID: ResumeLoss] { state.withLock { $0.setbacks } }

    func open() { state.withLock { $0.isOpen = true } }

    func record(_ seconds: Double) { state.withLock { $0.seconds = seconds } }

    /// Records a loss for these steps. Several damages are all kept.
    func record(_ loss: ResumeLoss, of steps: [StepID]) {
      state.withLock { state in
        for step in steps {
          state.setbacks[step] = state.setbacks[step]?.joined(with: loss) ?? loss
        }
      }
    }
  }
}

extension ResumeLoss {
  /// Combines two damages; the later loss alone if either is none.
  fileprivate func joined(with later: ResumeLoss) -> ResumeLoss {
    guard cause == .damaged, later.cause == .damaged, let part = later.part else { return later }
    var joined = self
    let known = [self.part].compactMap { $0 } + (furtherParts ?? [])
    if !known.contains(part) { joined.furtherParts = (furtherParts ?? []) + [part] }
    return joined
  }
}

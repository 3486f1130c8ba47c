import PipelineModel
import Platform

/// One piece of work: a pass or a whole stage, with retries, made durable.
extension Execution {
  /// Does a pass.
  /// - Returns: false if another process has done the work meanwhile, and nothing was done here.
  func runPass(
    _ outline: PassPlanner.Outline, _ survey: Survey, _ progress: inout RunProgress
  ) throws -> Bool {
    let status = survey.status
    let order = try order(outline, survey, progress)
    let steps = order.path.map(\.step) + order.listeners.map(\.step)
    let files = files.of(order.files).and(steps)
    for step in steps where status[step.id] == .done(isKept: false) && !step.stage.isRepeatable {
      recorder.record(
        .warning(
          step.id,
          "its sound is not in the store any more, and is made again: what is made of it now is not of "
            + "the sound that was exported and measured before, as it gives another one each time"))
    }
    let claim = FileCheckingClaim(
      try claim(order.work(on: recordings), order.summary), reading: files)
    let isDone = try claim.settled {
      try reading(files, in: order.path.first?.step.id) {
        defer { progress.heldByteCount = claim.heldByteCount }
        guard try survey.isCurrent(steps, in: store),
          try isStartThere(order, survey)
        else { return false }
        if progress.isFirstWork { try checkRoom(survey, held: claim.heldByteCount) }
        try begin(order.pendingSteps.map(\.id), &progress)
        let resumption = Resumption(
          after: progress.isFirstWork ? earlierRun(than: progress.record) : nil)
        let outcome: PassOutcome
        do throws(PassFailure) {
          outcome = try stream(
            order, claim, progress.record, resumption,
            RoomWatch(self, survey, claim))
        } catch {
          // What is no recording is refused, not worked on.
          if error.error.cause == .input, !resumption.isOpen {
            progress.takeBack(order.pendingSteps.map(\.id))
          }
          throw error
        }
        progress.record.mediaSeconds = outcome.mediaSeconds
        if let input = order.recording, input == progress.record.soundInputs?.first {
          progress.record.recordingSeconds = outcome.mediaSeconds
        }
        if let seconds = resumption.seconds {
          progress.resume(order.pendingSteps.map(\.id), at: seconds)
        }
        progress.setBack(resumption.setbacks)
        try commit(outcome, of: order, survey, claim, &progress)
        return true
      }
    }
    progress.heldByteCount = 0
    return isDone
  }

  /// The order of a pass. Where it was stopped in an earlier run, and another run has made its first steps
  /// since, it makes these once more: what was noted is of all of them.
  private func order(
    _ outline: PassPlanner.Outline, _ survey: Survey, _ progress: RunProgress
  ) throws -> PassOrder {
    let status = survey.status
    let pending = Set(outline.path.filter { status[$0] == .pending })
    let order = try PassOrder(outline, plan: plan, survey: survey, pending: pending)
    let done = outline.path.prefix { status[$0] == .done(isKept: false) }
    guard !done.isEmpty, progress.isFirstWork, earlierRun(than: progress.record) != nil,
      try !store.hasNotes(of: order.work(on: recordings))
    else { return order }
    for count in (1...done.count).reversed() {
      let wider = try PassOrder(
        outline, plan: plan, survey: survey, pending: pending.union(done.suffix(count)))
      if try store.hasNotes(of: wider.work(on: recordings)) { return wider }
    }
    return order
  }

  /// Records the work in progress, so that an interrupted run can be told from one that had not
  /// begun it.
  private func begin(_ steps: [StepID], _ progress: inout RunProgress) throws(SpoolError) {
    progress.begin(steps)
    try runner.log.save(progress.record)
  }

  /// Whether the kept sound at a pass's start is readable. If it proves damaged, the store has
  /// dropped it and the work must be planned again.
  private func isStartThere(_ order: PassOrder, _ survey: Survey) throws(SpoolError) -> Bool {
    for (id, artifact) in order.start.kept {
      do throws(SpoolError) { _ = try store.path(of: artifact) } catch {
        guard let key = survey.checkpoint(of: id)?.key,
          let outputs = try store.checkpoint(for: key)?.outputs.values,
          outputs.contains(where: { $0.artifact == artifact })
        else { return false }
        throw error
      }
    }
    return true
  }

  private func stream(
    _ order: PassOrder, _ claim: any WorkClaim, _ record: RunRecord, _ resumption: Resumption,
    _ room: RoomWatch?
  ) throws(PassFailure) -> PassOutcome {
    guard
      case .streaming(let family, _) = (order.path.first?.step ?? order.listeners.first?.step)?
        .descriptor.flow, let executor = runner.executors[family]
    else {
      throw PassFailure(order.path.first?.step.id, SpoolError("nothing can run this stage"))
    }
    recorder.record(
      .passStarted(
        steps: order.pendingSteps.map(\.id),
        replayed: order.path.filter { !$0.isPending }.map(\.step.id),
        mediaSeconds: record.mediaSeconds))
    let limit = TimeLimit(of: order.pendingSteps, from: clock)
    let context = context(order, claim, record, resumption, limit, room)
    let attempts = order.pendingSteps.map(\.attempts).min() ?? 1
    let outcome = try retrying(attempts) { () throws(PassFailure) -> PassOutcome in
      do throws(PassFailure) { return try executor.run(order, in: context) } catch {
        // Whatever the stream was doing then, the step with the timeout is the one to change.
        throw error.error == limit?.error ? PassFailure(limit?.step, error.error) : error
      }
    }
    return outcome
  }

  /// Commits every step of a pass at once. Sound that was kept again is added to the old
  /// checkpoints.
  private func commit(
    _ outcome: PassOutcome, of order: PassOrder, _ survey: Survey, _ claim: any WorkClaim,
    _ progress: inout RunProgress
  ) throws {
    let news = Set(order.pendingSteps.map(\.id))
    let members = news.union(order.path.map(\.step.id))
    var known = survey
    var checkpoints: [(step: BoundStep, checkpoint: Checkpoint)] = []
    for step in plan.steps where members.contains(step.id) {
      guard let inputs = known.inputs(of: step, recordings: recordings),
        news.contains(step.id) || outcome.results[step.id] != nil
      else { continue }
      let checkpoint = step.checkpoint(
        inputs: inputs, result: outcome.results[step.id] ?? PassOutcome.Result(),
        earlier: survey.checkpoint(of: step.id))
      checkpoints.append((step, checkpoint))
      known.record(checkpoint, for: step.id)
    }
    try claim.commit(checkpoints.map(\.checkpoint))
    progress.repeatWork(outcome.workSeconds)
    for (step, checkpoint) in checkpoints where news.contains(step.id) {
      let seconds = outcome.workSeconds[step.id]
      recorder.record(
        .finished(progress.finish(step, checkpoint, workSeconds: seconds, store: store)))
    }
  }

  /// Does a whole stage.
  /// - Returns: false if another process has done the work meanwhile, and nothing was done here.
  func runWhole(
    _ id: StepID, _ survey: Survey, _ progress: inout RunProgress
  ) throws -> Bool {
    guard let step = plan.step(id), let stage = step.stage as? any WholeStage else {
      throw PassFailure(id, SpoolError("nothing can run this stage"))
    }
    guard var inputs = survey.inputs(of: step, recordings: recordings) else {
      throw PassFailure(
        id,
        SpoolError(
          "an input of this stage is missing",
          reason: "a step above can give it, and was not asked to",
          advice: "name only formats and outputs that the steps above write", cause: .input))
    }
    let components = step.keyComponents(inputs: inputs)
    let files = files.of(plan.files(of: step).values).and([step])
    let claim = FileCheckingClaim(
      try claim(components.key.digest, "\(id)"), reading: files)
    return try claim.settled {
      try reading(files, in: id) {
        guard try survey.isCurrent([step], in: store) else { return false }
        if progress.isFirstWork { try checkRoom(survey, held: claim.heldByteCount) }
        try begin([id], &progress)
        recorder.record(.passStarted(steps: [id], replayed: [], mediaSeconds: nil))
        if let loss = loss(of: claim, under: progress.record) {
          progress.setBack([id: loss])
          recorder.record(.beganAnew(steps: [id], loss, lostSeconds: claim.lostSeconds))
        }
        if let text = survey.corrected[id] {
          inputs[.corrected] = StepOutput(try store.keep(text, as: .transcript))
        }
        let told = WarningMemory(recorder)
        let context = StageContext(
          step: id, inputs: inputs, files: plan.files(of: step), store: store,
          journal: Journal(of: claim),
          check: check(within: TimeLimit(of: [step], from: clock)),
          reportProgress: { [recorder] in recorder.record(.progress(id, done: $0, total: 1)) },
          warn: { told.record(.warning(id, $0)) })
        let began = clock.elapsed
        let outputs = try retrying(step.attempts) { () throws(PassFailure) in
          do throws(SpoolError) {
            return try stage.run(context)
          } catch {
            throw PassFailure(id, error)
          }
        }
        let checkpoint = Checkpoint(
          components: components, outputs: outputs, warnings: told.texts[id])
        let seconds = clock.elapsed - began
        try claim.commit(checkpoint)
        recorder.record(
          .finished(progress.finish(step, checkpoint, workSeconds: seconds, store: store)))
        return true
      }
    }
  }

  /// Asks the stages that judge for their verdicts on what is done, each once a run. All warnings are
  /// given, and all failures reported at once.
  func judge(_ progress: RunProgress, _ judged: inout Set<StepID>) throws {
    var failures: [PassFailure] = []
    for step in plan.steps {
      guard let stage = step.stage as? any JudgingStage, !judged.contains(step.id),
        case let outputs = progress.outputs(of: step.id), !outputs.isEmpty
      else { continue }
      judged.insert(step.id)
      do throws(SpoolError) {
        switch try stage.verdict(on: outputs, in: store) {
        case nil: break
        case .warning(let text): recorder.record(.warning(step.id, text))
        case .failure(let error): failures.append(PassFailure(step.id, error))
        case .quarantine(let error) where options.isAccepted?(step.id, error) == true:
          recorder.record(
            .warning(step.id, "accepted as it is: " + (error.reason ?? error.message)))
        case .quarantine(let error): failures.append(PassFailure(step.id, error))
        }
      } catch {
        failures.append(PassFailure(step.id, error))
      }
    }
    guard let first = failures.first else { return }
    // One error ends a run: the others are named in its reason.
    let others = failures.dropFirst().map { failure in
      (failure.step.map { "\($0): " } ?? "") + failure.error.account
    }
    guard !others.isEmpty else { throw first }
    throw PassFailure(
      first.step,
      SpoolError(
        first.error.message,
        reason: ([first.error.reason].compactMap(\.self) + others).joined(separator: "; "),
        advice: first.error.advice, cause: first.error.cause))
  }

  private func context(
    _ order: PassOrder, _ claim: any WorkClaim, _ record: RunRecord, _ resumption: Resumption,
    _ limit: TimeLimit?, _ room: RoomWatch?
  ) -> PassContext {
    let files = files.of(order.files)
    return PassContext(
      store: store, claim: claim,
      check: check(within: limit, room),
      report: { [recorder] in recorder.record(.progress($0, done: $1, total: $2)) },
      // A warning about a file that changed is a warning about no recording.
      warn: { [recorder] in
        if (try? files.check()) != nil { recorder.record(.warning($0, $1)) }
      },
      sealed: { step, port, artifact in
        guard (try? files.check()) != nil else { return }
        publish(artifact, at: port, of: step)
      },
      resumed: { seconds, total, inHand in
        resumption.open()
        tellBeginning(
          of: order.pendingSteps.map(\.id), at: seconds, of: total, inHand: inHand, claim, record,
          resumption)
      },
      dropped: { [recorder, clock] step, part, seconds in
        resumption.record(ResumeLoss(.damaged, at: clock.now, part: part), of: [step])
        recorder.record(.dropped(step, part: part, goesOnAtSeconds: seconds))
      })
  }

  /// What ends a piece of work early: the user, a step's timeout, and a disk that will be full.
  private func check(
    within limit: TimeLimit?, _ room: RoomWatch? = nil
  ) -> @Sendable () throws(SpoolError) -> Void {
    { [runner] () throws(SpoolError) in
      try runner.stop.check()
      try room?.check()
      if let limit, runner.clock.elapsed > limit.deadline { throw limit.error }
    }
  }

  /// 2ⁿ seconds after the n-th failure, at most a minute, plus up to a quarter so that simultaneous
  /// failures do not retry together.
  private static func retryPause(after failures: Int, jitter: Double) -> Double {
    min(Double(1 << min(failures, 6)), 60) * (1 + jitter / 4)
  }

  /// Repeats work after a transient failure.
  private func retrying<Result>(
    _ attempts: Int, _ body: () throws(PassFailure) -> Result
  ) throws(PassFailure) -> Result {
    var attempt = 1
    var last: SpoolError?
    while true {
      do { return try body() } catch {
        guard error.error.cause == .transient, attempt < attempts else {
          // A timeout in a pause says nothing of what was tried again.
          guard let last, error.error.cause == .environment else { throw error }
          throw PassFailure(error.step, error.error.noting("tried again after: \(last.account)"))
        }
        last = named(error.error)
        let delay = Self.retryPause(after: attempt, jitter: clock.jitter())
        recorder.record(.retrying(error.step, named(error.error), afterSeconds: delay))
        clock.sleep(delay, unless: runner.stop)
        do { try runner.stop.check() } catch { throw PassFailure(nil, error) }
        attempt += 1
      }
    }
  }
}

/// The `timeout` that ends a piece of work: the least of its steps. Steps that sound streams through
/// share their time.
private struct TimeLimit: Sendable {
  let step: StepID
  /// On the clock's monotonic time.
  let deadline: Double
  let error: SpoolError

  /// Begins to count; nil where no step has a timeout.
  init?(of steps: [BoundStep], from clock: any RunClock) {
    let limits = steps.compactMap { step in step.timeout.map { (step: step.id, seconds: $0) } }
    guard let least = limits.min(by: { $0.seconds < $1.seconds }) else { return nil }
    step = least.step
    deadline = clock.elapsed + least.seconds
    error = SpoolError(
      "gave up after \(Unit.seconds.format(least.seconds))",
      reason: "\(least.step) has this timeout", advice: "raise the timeout of \(least.step)",
      cause: .environment)
  }
}

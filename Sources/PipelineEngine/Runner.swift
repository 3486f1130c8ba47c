public import PipelineModel

/// Runs plans: one piece of work after the other, each made durable before the next begins.
public struct Runner: Sendable {
  /// What a run needs besides its plan.
  public struct Options: Sendable {
    /// The user's folder for exports, an absolute path.
    public var folder: String
    /// Whether files that Spool did not write may be replaced.
    public var isReplacing = false
    /// Whether the sound after every step is kept (`--checkpoint every`).
    public var keepsEverything = false

    /// Exports go to `folder`.
    public init(folder: String) { self.folder = folder }
  }

  let store: any ArtifactStore
  let custody: any FileCustody
  let log: any RunLog
  let executors: [StageFamily: any PassExecutor]
  let recorder: any RunRecorder
  let stop: StopRequest
  let clock: any RunClock

  /// Makes a runner over a store; `executors` run the passes of the stage families.
  public init(
    store: any ArtifactStore & FileCustody & RunLog, executors: [any PassExecutor],
    recorder: any RunRecorder, stop: StopRequest, clock: any RunClock
  ) {
    self.store = store
    custody = store
    log = store
    self.executors = Dictionary(
      executors.map { ($0.family, $0) }, uniquingKeysWith: { first, _ in first })
    self.recorder = recorder
    self.stop = stop
    self.clock = clock
  }

  /// What running the plan would do; changes nothing.
  public func forecast(_ plan: Plan, _ options: Options) throws(RunError) -> Forecast {
    do {
      let survey = try Survey(plan, recordings: try identify(plan), store: store)
      return try Forecast(
        plan, survey: survey, executors: executors, keepsEverything: options.keepsEverything)
    } catch let error as StoreError {
      throw RunError(StageError(error))
    } catch {
      throw failure(error, plan)
    }
  }

  /// Runs the plan to its end on the calling thread. Blocks.
  /// - Parameter record: the run's record as it begins; every change of it is saved.
  /// - Returns: the record as it ended.
  public func run(
    _ plan: Plan, _ options: Options, record: RunRecord
  ) throws(RunError) -> RunRecord {
    var progress = RunProgress(record, plan: plan)
    do {
      try log.save(progress.record)
      recorder.record(.started(progress.record))
      plan.skipped.forEach { recorder.record(.skipped($0)) }
      try work(through: plan, options, &progress)
      try publish(plan, options, &progress)
      progress.end(.done, at: clock.now)
      try log.save(progress.record)
    } catch {
      let failure = (error as? RunError) ?? self.failure(error, plan)
      let isStopped = failure.error.cause == .cancelled
      progress.end(
        isStopped ? .interrupted : .failed, at: clock.now,
        failure: isStopped ? nil : failure.error, step: failure.step)
      // The first failure is the one to report, even where it cannot be noted down.
      try? log.save(progress.record)
      recorder.record(.ended(progress.record))
      throw failure
    }
    recorder.record(.ended(progress.record))
    return progress.record
  }

  /// The loop: survey, plan the next piece, do it, commit, again.
  private func work(
    through plan: Plan, _ options: Options, _ progress: inout RunProgress
  ) throws {
    let recordings = try identify(plan)
    let planner = PassPlanner(plan, keepsEverything: options.keepsEverything)
    var identified: Set<StepID> = []
    while true {
      let survey = try Survey(plan, recordings: recordings, store: store)
      for (id, checkpoint) in progress.takeReused(survey, store: store) {
        recorder.record(.reused(id, kind: checkpoint.components.kind))
      }
      guard let work = planner.next(survey.status) else { return }
      if progress.isFirstWork { try checkRoom(plan, survey, options) }
      switch work {
      case .whole(let id): try runWhole(id, plan, survey, recordings, &progress)
      case .pass(var outline):
        if let alone = try sourceToIdentify(outline, plan, survey, identified) {
          identified.insert(alone)
          if case .pass(let short) = planner.next(survey.status, sourcesAlone: [alone]) {
            outline = short
          }
        }
        try runPass(outline, plan, survey, recordings, &progress)
      }
      try log.save(progress.record)
    }
  }

  /// The pending source that begins this pass, if the store knows content like it: then the source
  /// is identified alone first, since everything below may be there already.
  private func sourceToIdentify(
    _ outline: PassPlanner.Outline, _ plan: Plan, _ survey: Survey, _ identified: Set<StepID>
  ) throws -> StepID? {
    guard let id = outline.path.first, let step = plan.step(id), !identified.contains(id),
      case .streaming(let family, .source) = step.descriptor.flow,
      survey.checkpoint(of: id) == nil, outline.path.count + outline.listeners.count > 1
    else { return nil }
    let order = try PassOrder(outline, plan: plan, survey: survey, pending: [id])
    let hints = try executors[family]?.estimate(order).hints ?? []
    for hint in hints where try store.hasCheckpoint(kind: step.descriptor.kind, hint: hint) {
      return id
    }
    return nil
  }

  // MARK: One piece of work

  private func runPass(
    _ outline: PassPlanner.Outline, _ plan: Plan, _ survey: Survey,
    _ recordings: [String: StepOutput], _ progress: inout RunProgress
  ) throws {
    let status = survey.status
    let listening = Set(outline.listeners.map(\.step))
    let pending = Set(outline.path.filter { status[$0] == .pending })
    let order = try PassOrder(outline, plan: plan, survey: survey, pending: pending)
    guard
      case .streaming(let family, _) = (order.path.first?.step ?? order.listeners.first?.step)?
        .descriptor.flow, let executor = executors[family]
    else { throw PassFailure(outline.path.first, StageError("nothing can run this stage")) }
    recorder.record(
      .passStarted(
        steps: outline.path.filter { pending.contains($0) } + outline.listeners.map(\.step),
        replayed: outline.path.filter { !pending.contains($0) },
        mediaSeconds: progress.record.mediaSeconds))

    let attempts = order.pendingSteps.map(\.attempts).min() ?? 1
    let outcome = try retrying(attempts) { () throws(PassFailure) in
      try executor.run(order, in: context(timeout: order.timeout))
    }
    progress.record.mediaSeconds = outcome.mediaSeconds
    // Whatever was kept again on the way is added to the old checkpoints.
    let ids = plan.steps.map(\.id).filter { outline.path.contains($0) || listening.contains($0) }
    var known = survey
    for id in ids {
      guard let step = plan.step(id), let inputs = known.inputs(of: step, recordings: recordings)
      else { continue }
      let result = outcome.results[id] ?? PassOutcome.Result()
      let checkpoint = step.checkpoint(
        inputs: inputs, result: result, earlier: survey.checkpoint(of: id))
      try store.commit(checkpoint)
      known.note(checkpoint, for: id)
      if pending.contains(id) || listening.contains(id) {
        recorder.record(.finished(progress.finish(step, checkpoint, store: store)))
      }
    }
  }

  private func runWhole(
    _ id: StepID, _ plan: Plan, _ survey: Survey, _ recordings: [String: StepOutput],
    _ progress: inout RunProgress
  ) throws {
    guard let step = plan.step(id), let stage = step.stage as? any WholeStage,
      let inputs = survey.inputs(of: step, recordings: recordings)
    else { throw PassFailure(id, StageError("nothing can run this stage")) }
    recorder.record(.passStarted(steps: [id], replayed: [], mediaSeconds: nil))
    let context = StageContext(
      step: id, inputs: inputs, store: store, stop: stop,
      reportProgress: { [recorder] in recorder.record(.progress(id, done: $0, total: 1)) })
    let outputs = try retrying(step.attempts) { () throws(PassFailure) in
      do throws(StageError) {
        return try stage.run(context)
      } catch {
        throw PassFailure(id, error)
      }
    }
    let checkpoint = Checkpoint(components: step.keyComponents(inputs: inputs), outputs: outputs)
    try store.commit(checkpoint)
    recorder.record(.finished(progress.finish(step, checkpoint, store: store)))
  }

  private func context(timeout: Double?) -> PassContext {
    let deadline = timeout.map { clock.now + $0 }
    return PassContext(
      store: store,
      check: { [stop, clock] () throws(StageError) in
        try stop.check()
        if let deadline, clock.now > deadline {
          throw StageError(
            "gave up after \(timeout ?? 0) s", advice: "raise the step's timeout",
            cause: .environment)
        }
      },
      report: { [recorder] in recorder.record(.progress($0, done: $1, total: $2)) },
      warn: { [recorder] in recorder.record(.warning($0, $1)) })
  }

  /// Tries work again where its failure is of the passing kind.
  private func retrying<Result>(
    _ attempts: Int, _ body: () throws(PassFailure) -> Result
  ) throws(PassFailure) -> Result {
    var attempt = 1
    while true {
      do { return try body() } catch {
        guard error.error.cause == .transient, attempt < attempts else { throw error }
        let delay = RetryDelay.seconds(after: attempt, jitter: clock.jitter())
        recorder.record(.retrying(error.step, error.error, afterSeconds: delay))
        clock.sleep(delay, unless: stop)
        do { try stop.check() } catch { throw PassFailure(nil, error) }
        attempt += 1
      }
    }
  }

  // MARK: Edges

  private func identify(_ plan: Plan) throws(StoreError) -> [String: StepOutput] {
    var recordings: [String: StepOutput] = [:]
    for (name, path) in plan.inputs {
      recordings[name] = StepOutput(
        kind: .sound, identity: try custody.digest(ofFile: path))
    }
    return recordings
  }

  /// Refuses, with figures, a run that cannot fit.
  private func checkRoom(_ plan: Plan, _ survey: Survey, _ options: Options) throws {
    let forecast = try Forecast(
      plan, survey: survey, executors: executors, keepsEverything: options.keepsEverything)
    let rooms = [
      ("the store", forecast.storeByteCount, try store.freeByteCount()),
      (options.folder, forecast.publishedByteCount, try custody.freeByteCount(at: options.folder)),
    ]
    for (place, needed, free) in rooms where needed > free {
      throw StageError(
        "there is not enough room in \(place)",
        reason: "the run needs about \(ByteCount(needed)), and \(ByteCount(free)) are free",
        advice: "free some space, or choose another place with --store or --out",
        cause: .environment)
    }
  }

  private func publish(_ plan: Plan, _ options: Options, _ progress: inout RunProgress) throws {
    for step in plan.steps {
      guard let stage = step.stage as? any PublishingStage else { continue }
      do {
        try stop.check()
        let files = try stage.publish(
          PublishingContext(
            step: step.id, outputs: progress.outputs(of: step.id),
            recordings: plan.recordings(of: step.id).compactMap { plan.inputs[$0] },
            folder: options.folder, isReplacing: options.isReplacing, store: store,
            custody: custody))
        for file in files {
          progress.record.published.append(file)
          recorder.record(.published(file))
        }
      } catch {
        throw PassFailure(step.id, error)
      }
    }
  }

  private func failure(_ error: any Error, _ plan: Plan) -> RunError {
    switch error {
    case let failure as PassFailure:
      let step = failure.step.flatMap { plan.step($0) }
      let recording = (failure.step ?? plan.steps.first?.id).flatMap {
        plan.recordings(of: $0).first
      }
      return RunError(
        failure.error, step: failure.step, kind: step?.descriptor.kind,
        recording: recording.flatMap { plan.inputs[$0] })
    case let error as StageError: return RunError(error)
    case let error as StoreError: return RunError(StageError(error))
    default: return RunError(StageError("the run failed", reason: "\(error)"))
    }
  }
}

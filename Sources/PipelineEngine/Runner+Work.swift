import PipelineModel

/// One piece of work: a pass or a whole stage, tried again where that makes sense, and made durable.
extension Runner {
  func runPass(
    _ outline: PassPlanner.Outline, _ plan: Plan, _ survey: Survey,
    _ recordings: [String: StepOutput], _ publisher: Publisher,
    _ progress: inout RunProgress
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
      try executor.run(order, in: context(order, publisher, plan, recordings))
    }
    do { try checkUnchanged(order, plan, recordings) } catch {
      throw PassFailure(order.path.first?.step.id, error)
    }
    progress.record.mediaSeconds = outcome.mediaSeconds
    // Whatever was kept again on the way is added to the old checkpoints.
    let ids = plan.steps.map(\.id).filter { outline.path.contains($0) || listening.contains($0) }
    var known = survey
    for id in ids {
      guard let step = plan.step(id), let inputs = known.inputs(of: step, recordings: recordings)
      else { continue }
      let isNews = pending.contains(id) || listening.contains(id)
      guard isNews || outcome.results[id] != nil else { continue }
      let result = outcome.results[id] ?? PassOutcome.Result()
      let checkpoint = step.checkpoint(
        inputs: inputs, result: result, earlier: survey.checkpoint(of: id))
      try store.commit(checkpoint)
      known.note(checkpoint, for: id)
      if isNews {
        recorder.record(.finished(progress.finish(step, checkpoint, store: store)))
      }
    }
  }

  func runWhole(
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

  private func context(
    _ order: PassOrder, _ publisher: Publisher, _ plan: Plan, _ recordings: [String: StepOutput]
  ) -> PassContext {
    let timeout = order.timeout
    let deadline = timeout.map { clock.elapsed + $0 }
    return PassContext(
      store: store,
      check: { [stop, clock] () throws(StageError) in
        try stop.check()
        if let deadline, clock.elapsed > deadline {
          throw StageError(
            "gave up after \(timeout ?? 0) s", advice: "raise the step's timeout",
            cause: .environment)
        }
      },
      report: { [recorder] in recorder.record(.progress($0, done: $1, total: $2)) },
      warn: { [recorder] in recorder.record(.warning($0, $1)) },
      sealed: { step, port, artifact in
        guard (try? checkUnchanged(order, plan, recordings)) != nil else { return }
        publisher.publish(artifact, at: port, of: step)
      })
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
}

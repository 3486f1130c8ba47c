import PipelineModel

/// What is said when a disk fills up in the middle of a run: which one, how much is missing, and
/// that nothing done is lost.
extension Runner {
  /// Adds place, figures and advice to a failure for want of room; gives any other back as it is.
  /// - Parameter record: the run's record, with what is done and published so far.
  func explainFullDisk(
    _ failure: RunError, _ plan: Plan, _ options: Options, _ record: RunRecord
  ) -> RunError {
    guard failure.error.cause == .fullDisk else { return failure }
    let isFolder = failure.error.message.contains(options.folder + "/")
    let place = isFolder ? options.folder : "the store"
    var reason = failure.error.reason ?? "No space left on device"
    let free = try? isFolder ? custody.freeByteCount(at: options.folder) : store.freeByteCount()
    if let free, let needed = remainingByteCount(isFolder, plan, options, record) {
      // A draft that did not fit is gone by now, so what is free may look like enough.
      let missing = max(needed - free, 0)
      reason +=
        "; the rest of the run needs about \(ByteCount(needed)), \(ByteCount(free)) are free"
      if missing > 0 { reason += ", so about \(ByteCount(missing)) more are needed" }
    }
    let error = StageError(
      "\(place) is full: \(failure.error.message)", reason: reason,
      advice: "what is done is kept: free some space, then "
        + (options.resumeCommand ?? "run the same again") + " goes on",
      cause: .fullDisk)
    return RunError(
      error, step: failure.step, kind: failure.kind, recording: failure.recording)
  }

  /// Bytes that the rest of a run will put into the output folder, or into the store and whatever
  /// shares its disk; nil where that cannot be told.
  private func remainingByteCount(
    _ isFolder: Bool, _ plan: Plan, _ options: Options, _ record: RunRecord
  ) -> Int? {
    guard let identities = record.recordings else { return nil }
    var recordings: [String: StepOutput] = [:]
    for (name, digest) in identities {
      recordings[name] = StepOutput(kind: plan.inputKinds[name] ?? .file, identity: digest)
    }
    guard let survey = try? Survey(plan, recordings: recordings, store: store),
      let forecast = try? Forecast(
        plan, survey: survey, executors: executors, keepsEverything: options.keepsEverything)
    else { return nil }
    let publishing = forecast.publishedByteCount + unpublishedByteCount(plan, survey, record)
    if isFolder { return publishing }
    return forecast.storeByteCount + (custody.sharesDisk(with: options.folder) ? publishing : 0)
  }

  /// Bytes of the exports that are whole in the store and not in the output folder yet.
  private func unpublishedByteCount(_ plan: Plan, _ survey: Survey, _ record: RunRecord) -> Int {
    var count = 0
    for step in plan.steps where step.stage is any PublishingStage {
      guard !record.published.contains(where: { $0.step == step.id }) else { continue }
      for output in (survey.checkpoint(of: step.id)?.outputs ?? [:]).values {
        count += output.artifact?.byteCount ?? 0
      }
    }
    return count
  }
}

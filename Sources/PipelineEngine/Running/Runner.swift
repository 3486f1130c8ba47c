package import PipelineModel
package import Platform

/// Runs plans: one piece of work after the other, each made durable before the next begins.
package struct Runner: Sendable {
  package struct Options: Sendable {
    /// The user's folder for exports, an absolute path.
    package var folder: String
    /// Whether files that Spool did not write may be replaced.
    package var isReplacing = false
    /// Whether to begin although the results may not fit on the disks; the run pauses when one is
    /// full.
    package var ignoresRoom = false
    /// Whether the sound after every step is kept (`--checkpoint every`).
    package var keepsEverything = false
    /// The recordings' names for exports, by input: a path whose folder means nothing. Default: the
    /// file's.
    package var names: [String: String] = [:]

    /// Called with the run's record whenever more of it is durable: before the next piece of work,
    /// and before anything is published, which then waits for the end of all work. An error ends
    /// the run.
    package var mayGoOn: (@Sendable (RunRecord) throws(SpoolError) -> Void)?

    /// The command that resumes the run, for advice; nil if there is none.
    package var resumeCommand: String?

    /// Whether to write a receipt although the pipeline does not ask for one.
    package var isReceiptWanted = false
    /// The recordings' origins by input, if more is known than their paths.
    package var origins: [String: RecordingOrigin] = [:]

    package init(folder: String) { self.folder = folder }
  }

  let store: any ArtifactStore
  let exportFolder: any ExportFolder
  let log: any RunLog
  let executors: [StageFamily: any PassExecutor]
  let recorder: any RunRecorder
  let stop: StopRequest
  let clock: any RunClock
  let receiptWriter: (any ReceiptWriter)?

  /// `executors` run the passes of the stage families. Runs are recorded in `log`.
  /// `receiptWriter` writes receipts.
  package init(
    store: any ArtifactStore & ExportFolder, log: any RunLog,
    executors: [any PassExecutor],
    recorder: any RunRecorder, stop: StopRequest, clock: any RunClock,
    receiptWriter: (any ReceiptWriter)? = nil
  ) {
    self.receiptWriter = receiptWriter
    self.store = store
    exportFolder = store
    self.log = log
    self.executors = Dictionary(
      executors.map { ($0.family, $0) }, uniquingKeysWith: { first, _ in first })
    self.recorder = recorder
    self.stop = stop
    self.clock = clock
  }

  /// How many of the newest runs are searched for an estimate of time or an earlier start of the
  /// same.
  static let historyLimit = 100

  /// What running the plan would do; changes nothing.
  package func forecast(_ plan: Plan, _ options: Options) throws(RunError) -> Forecast {
    do {
      let recordings = try identify(plan)
      let survey = try Survey(plan, recordings: recordings, store: store)
      var forecast = try Forecast(
        plan, survey: survey, executors: executors, keepsEverything: options.keepsEverything)
      forecast.unpublishedByteCount = Publisher(self, plan, options, recordings)
        .missingByteCount(survey)
      forecast.pastSpeed = HistoricalThroughput(
        try log.newest(limit: Self.historyLimit), of: plan.steps, pipeline: plan.name)
      return forecast
    } catch let error as SpoolError {
      throw RunError(error)
    } catch {
      throw failure(error, plan)
    }
  }

  /// Runs the plan to its end on the calling thread. Blocks.
  /// - Parameter record: the run's initial record; every change of it is saved.
  /// - Returns: the final record.
  package func run(
    _ plan: Plan, _ options: Options, record: RunRecord
  ) throws(RunError) -> RunRecord {
    var record = record
    record.workplace = receiptWriter?.host
    var progress = RunProgress(record, plan: plan, clock: clock)
    var isRecorded = false
    do {
      try log.save(progress.record)
      isRecorded = true
      recorder.record(.started(progress.record))
      plan.skipped.forEach { recorder.record(.skipped($0)) }
      try checkNames(plan, options)
      try checkReceiptWriter(plan, options)
      let recordings = try identify(plan)
      progress.identify(recordings)
      try checkReceiptPlaces(plan, options, recordings, progress.record)
      progress.isAdmitted = true
      try log.save(progress.record)
      let publisher = Publisher(self, plan, options, recordings)
      try work(through: plan, options, recordings, publisher, &progress)
      try publisher.publishAll(&progress)
      try writeReceipts(of: plan, options, recordings, &progress)
      progress.end(.done, at: clock.now)
      try log.save(progress.record)
    } catch {
      let cause = (error as? RunError) ?? self.failure(error, plan)
      var failure = explainFullDisk(cause, plan, options, progress)
      let isStopped = failure.error.cause == .cancelled
      let isPaused =
        failure.error.cause == .fullDisk && !RoomNeed.isRefusal(failure.error)
      // A failure without a step, before any began, is a lack of room.
      let isRefused = !progress.isAdmitted || (failure.step == nil && !progress.hasBegun)
      progress.end(
        isStopped ? .interrupted : isPaused ? .paused : isRefused ? .refused : .failed,
        at: clock.now,
        failure: isStopped ? nil : failure.error, step: failure.step)
      // The first failure is the one to report, even if it cannot be recorded.
      isRecorded = (try? log.save(progress.record)) != nil || isRecorded
      if !isRecorded, !RoomNeed.isRefusal(failure.error) {
        // An unrecorded run cannot be resumed by its name.
        var nameless = options
        nameless.resumeCommand = nil
        failure = explainFullDisk(cause, plan, nameless, progress)
      }
      recorder.record(.ended(progress.record))
      throw failure
    }
    recorder.record(.ended(progress.record))
    return progress.record
  }

  /// The loop: survey, plan the next piece, do it, commit, again.
  private func work(
    through plan: Plan, _ options: Options, _ recordings: [String: StepOutput],
    _ publisher: Publisher, _ progress: inout RunProgress
  ) throws {
    let planner = PassPlanner(plan, keepsEverything: options.keepsEverything)
    var identified: Set<StepID> = []
    while true {
      let survey = try Survey(plan, recordings: recordings, store: store)
      let reused = progress.takeReused(survey, store: store)
      // A receipt has no work of its own: whether it exists shows when it is to be written.
      for (id, checkpoint) in reused where !(plan.step(id)?.stage is any ReceiptStage) {
        recorder.record(.reused(id, kind: checkpoint.components.kind))
      }
      // The run's inputs must not be collected if it is interrupted.
      if !reused.isEmpty { try log.save(progress.record) }
      try options.mayGoOn?(progress.record)
      guard let work = planner.next(survey.status) else {
        // Nothing to compute: only publishing is left.
        if progress.isFirstWork { try checkRoom(plan, survey, options, publisher, held: 0) }
        return
      }
      let isFirst = progress.isFirstWork
      let prepare = { (claim: any WorkClaim) throws in
        guard isFirst else { return }
        try checkRoom(plan, survey, options, publisher, held: claim.heldByteCount)
      }
      let isDoneHere: Bool
      switch work {
      case .whole(let id):
        isDoneHere = try unlessTakenOver([id]) {
          try runWhole(id, plan, survey, recordings, &progress, prepare)
        }
      case .pass(var outline):
        if let alone = try sourceToIdentify(outline, plan, survey, identified) {
          identified.insert(alone)
          if case .pass(let short) = planner.next(survey.status, sourcesAlone: [alone]) {
            outline = short
          }
        } else {
          try publisher.checkOwners(survey.status)
          publisher.prepare(survey)
        }
        let steps = outline.path + outline.listeners.map(\.step)
        isDoneHere = try unlessTakenOver(steps.filter { survey.status[$0] == .pending }) {
          try runPass(outline, plan, survey, recordings, publisher, &progress, prepare)
        }
      }
      if isDoneHere { try log.save(progress.record) }
    }
  }

  /// The pending source at this pass's start, if the store knows content like it: it is identified
  /// alone first, since everything below may exist already.
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
}

/// The message for a disk that fills up during a run: which one, how much is missing, and that
/// nothing done is lost.
extension Runner {
  /// Adds place, figures and advice to a full-disk failure; returns any other as it is.
  /// - Parameter progress: how far the run came.
  func explainFullDisk(
    _ failure: RunError, _ plan: Plan, _ options: Options, _ progress: RunProgress
  ) -> RunError {
    guard failure.error.cause == .fullDisk, !RoomNeed.isRefusal(failure.error) else {
      return failure
    }
    if progress.isUntouched { return refuse(failure, plan, options, progress) }
    let isFolder = failure.error.message.contains(options.folder + "/")
    var reason = failure.error.reason ?? "No space left on device"
    if let need = remainingNeed(plan, options, progress) {
      let isExports = isFolder && !need.sharesDisk
      let needed =
        isExports
        ? need.folderByteCount : need.storeByteCount + (need.sharesDisk ? need.folderByteCount : 0)
      let free = isExports ? need.folderFreeByteCount : need.storeFreeByteCount
      // A file that did not fit is deleted by now, so what is free may look like enough.
      reason +=
        "; the rest of the run needs about \(ByteCount(needed)), \(ByteCount(free)) are free"
      let missing = max(needed - free, 0)
      if missing > 0 { reason += ", so about \(ByteCount(missing)) more are needed" }
    }
    let error = SpoolError(
      "\(isFolder ? options.folder : "the store") is full: \(failure.error.message)",
      reason: reason,
      advice: "what is done is kept: free some space, then "
        + (options.resumeCommand ?? "running the same again") + " goes on",
      cause: .fullDisk)
    return RunError(
      error, step: failure.step, kind: failure.kind, recording: failure.recording)
  }

  /// Words a full disk at a run's very first write: it did not begin; with the room that it needs.
  private func refuse(
    _ failure: RunError, _ plan: Plan, _ options: Options, _ progress: RunProgress
  ) -> RunError {
    let need = remainingNeed(plan, options, progress)
    let figures = need.map { need in
      let needed = need.storeByteCount + (need.sharesDisk ? need.folderByteCount : 0)
      return "; the run needs about \(ByteCount(needed)) there, and "
        + "\(ByteCount(need.storeFreeByteCount)) are free"
    }
    let error =
      need?.finalRefusal
      ?? SpoolError(
        "the store is full: \(failure.error.message)",
        reason: (failure.error.reason ?? "No space left on device") + (figures ?? ""),
        advice: "nothing was begun: free some space" + RoomNeed.collection, cause: .fullDisk)
    return RunError(error, recording: failure.recording)
  }

  /// What the rest of a run will write, and what is free now; nil if unknown.
  private func remainingNeed(
    _ plan: Plan, _ options: Options, _ progress: RunProgress
  ) -> RoomNeed? {
    var recordings: [String: StepOutput] = [:]
    if let identities = progress.record.recordings {
      for (name, digest) in identities {
        recordings[name] = StepOutput(kind: plan.inputKinds[name] ?? .file, identity: digest)
      }
    } else {
      // Nothing was written before they were read.
      guard let read = try? identify(plan) else { return nil }
      recordings = read
    }
    guard let survey = try? Survey(plan, recordings: recordings, store: store) else { return nil }
    let publisher = Publisher(self, plan, options, recordings)
    return try? roomNeed(plan, survey, options, publisher, held: progress.heldByteCount)
  }
}

public import PipelineModel

/// Runs plans: one piece of work after the other, each made durable before the next begins.
public struct Runner: Sendable {
  /// What a run needs besides its plan.
  public struct Options: Sendable {
    /// The user's folder for exports, an absolute path.
    public var folder: String
    /// Whether files that Spool did not write may be replaced.
    public var isReplacing = false
    /// Whether a run begins although it may not fit on its disks: where one gets full, the run pauses.
    public var ignoresRoom = false
    /// Whether the sound after every step is kept (`--checkpoint every`).
    public var keepsEverything = false
    /// What exports call a recording, by input: a path whose folder means nothing. An input that is
    /// not here is called as its file is.
    public var names: [String: String] = [:]

    /// Asked about the run as it stands whenever more of it is durable: before the next piece of
    /// work, and before anything is published, which then waits for the end of all work. What it
    /// throws ends the run there.
    public var mayGoOn: (@Sendable (RunRecord) throws(StageError) -> Void)?

    /// What the user types to go on with the run later, for advice; nil where there is no such
    /// thing.
    public var resumeCommand: String?

    /// Whether a receipt is written although the pipeline does not ask for one.
    public var isReceiptWanted = false
    /// Where recordings come from, by input, as far as more is known of them than their paths.
    public var origins: [String: RecordingOrigin] = [:]

    /// Exports go to `folder`.
    public init(folder: String) { self.folder = folder }
  }

  let store: any ArtifactStore & WorkClaims
  let custody: any FileCustody
  let log: any RunLog
  let executors: [StageFamily: any PassExecutor]
  let recorder: any RunRecorder
  let stop: StopRequest
  let clock: any RunClock
  let witness: (any RunWitness)?

  /// Makes a runner over a store; `executors` run the passes of the stage families. Runs are noted
  /// in `log`, or in the store where there is none. Receipts are written by `witness`.
  public init(
    store: any ArtifactStore & FileCustody & RunLog & WorkClaims,
    log: (any RunLog)? = nil, executors: [any PassExecutor],
    recorder: any RunRecorder, stop: StopRequest, clock: any RunClock,
    witness: (any RunWitness)? = nil
  ) {
    self.witness = witness
    self.store = store
    custody = store
    self.log = log ?? store
    self.executors = Dictionary(
      executors.map { ($0.family, $0) }, uniquingKeysWith: { first, _ in first })
    self.recorder = recorder
    self.stop = stop
    self.clock = clock
  }

  /// How many of the newest runs an estimate of time, or an earlier start of the same, is looked for in.
  static let historyLimit = 100

  /// What running the plan would do; changes nothing.
  public func forecast(_ plan: Plan, _ options: Options) throws(RunError) -> Forecast {
    do {
      let recordings = try identify(plan)
      let survey = try Survey(plan, recordings: recordings, store: store)
      var forecast = try Forecast(
        plan, survey: survey, executors: executors, keepsEverything: options.keepsEverything)
      forecast.unpublishedByteCount = Publisher(self, plan, options, recordings)
        .missingByteCount(survey)
      forecast.pastSpeed = PastSpeed(
        try log.runs(limit: Self.historyLimit), of: plan.steps, pipeline: plan.name)
      return forecast
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
    var record = record
    record.workplace = witness?.workplace
    var progress = RunProgress(record, plan: plan, clock: clock)
    var isRecorded = false
    do {
      try log.save(progress.record)
      isRecorded = true
      recorder.record(.started(progress.record))
      plan.skipped.forEach { recorder.record(.skipped($0)) }
      try checkNames(plan, options)
      try checkWitness(plan, options)
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
      // What no step is to blame for, before any was begun, is the want of room.
      let isRefused = !progress.isAdmitted || (failure.step == nil && !progress.hasBegun)
      progress.end(
        isStopped ? .interrupted : isPaused ? .paused : isRefused ? .refused : .failed,
        at: clock.now,
        failure: isStopped ? nil : failure.error, step: failure.step)
      // The first failure is the one to report, even where it cannot be noted down.
      isRecorded = (try? log.save(progress.record)) != nil || isRecorded
      if !isRecorded, !RoomNeed.isRefusal(failure.error) {
        // Nobody can go on with a run by a name that is nowhere.
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
      // A receipt has no work of its own: whether it was there already shows when it is to be written.
      for (id, checkpoint) in reused where !(plan.step(id)?.stage is any ReceiptStage) {
        recorder.record(.reused(id, kind: checkpoint.components.kind))
      }
      // What the run counts on from now on must not be freed, should it be cut off.
      if !reused.isEmpty { try log.save(progress.record) }
      try options.mayGoOn?(progress.record)
      guard let work = planner.next(survey.status) else {
        // Nothing to compute: what is left is to put files into the user's folder.
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
}

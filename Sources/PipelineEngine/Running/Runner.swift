package import PipelineModel
package import Platform

/// Runs plans: one piece of work after the other, each made durable before the next begins.
package struct Runner: Sendable {
  package struct Options: Sendable {
    /// The user's folder for exports, an absolute path.
    package var folder: String
    /// Whether to make that folder for the first export if it is not there when the run begins. One that
    /// goes away later is not made again: its disk may be away.
    package var makesFolder = false
    /// Whether files that Spool did not write may be replaced.
    package var isReplacing = false
    /// Whether to begin although the results may not fit on the disks; the run pauses when one is
    /// full.
    package var ignoresRoom = false
    /// Whether an earlier run is resumed: its folder and its store are chosen.
    package var isResuming = false
    /// Whether the sound after every step is kept (`--checkpoint every`).
    package var keepsEverything = false
    /// The step whose sound is in the store at the end: one that is done and was not kept is computed
    /// again. Nil for none.
    package var neededStep: StepID?
    /// The recordings' names for exports, by input: a path whose folder means nothing. Default: the
    /// file's.
    package var names: [String: String] = [:]

    /// Called with the run's record whenever more of it is durable: before the next piece of work,
    /// and before anything is published, which then waits for the end of all work. An error ends
    /// the run; one of the kind `unneeded` for good.
    package var mayGoOn: (@Sendable (RunRecord) throws(SpoolError) -> Void)?

    /// Whether a person has accepted the recording in spite of this failure of a step, which would
    /// put it in quarantine.
    package var isAccepted: (@Sendable (StepID, SpoolError) -> Bool)?

    /// The command that resumes the run, for advice; nil if there is none.
    package var resumeCommand: String?

    /// Whether to estimate how long the run takes, which reads the newest runs and the recordings'
    /// headers.
    package var isEstimated = false
    /// The recordings' origins by input, if more is known than their paths.
    package var origins: [String: RecordingOrigin] = [:]

    /// The chapters that recordings' sidecars tell of, by input.
    package var chapters: [String: [RunRequest.Chapter]] = [:]

    /// Takes the place of an export for the run; where another run of the same batch has it, returns
    /// that one's recording. Nil where no run is beside it whose exports must stay.
    package var takePlace: (@Sendable (_ path: String) -> String?)?

    /// The titles that recordings' sidecars tell, by input.
    package var titles: [String: String] = [:]

    package init(folder: String) { self.folder = folder }

    /// As a recorded request says.
    package init(_ request: RunRequest) {
      folder = request.folder
      isReplacing = request.isReplacing
      keepsEverything = request.keepsEverything
      names = request.names ?? [:]
      chapters = request.chapters ?? [:]
      titles = request.titles ?? [:]
    }
  }

  let store: any ArtifactStore
  let exportFolder: any ExportFolder
  let log: any RunLog
  let executors: [StageFamily: any PassExecutor]
  private(set) var recorder: any RunRecorder
  let stop: StopRequest
  let clock: any RunClock
  let receiptWriter: (any ReceiptWriter)?
  let delivery: (any RunDelivery)?
  let corrections: WordOverlay?

  /// `executors` run the passes of the stage families. Runs are recorded in `log`.
  /// `receiptWriter` writes receipts, `delivery` queues files for destinations, and `corrections` lie over
  /// the words that stages write for people.
  package init(
    store: any ArtifactStore & ExportFolder, log: any RunLog,
    executors: [any PassExecutor],
    recorder: any RunRecorder, stop: StopRequest, clock: any RunClock,
    receiptWriter: (any ReceiptWriter)? = nil, delivery: (any RunDelivery)? = nil,
    corrections: WordOverlay? = nil
  ) {
    self.receiptWriter = receiptWriter
    self.delivery = delivery
    self.corrections = corrections
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

  /// The earlier runs from which an estimate of time is learned, the last recorded one first.
  package func history() throws(SpoolError) -> [RunRecord] {
    try log.newest(limit: Self.historyLimit)
  }

  /// What running the plan would do; changes nothing.
  /// - Parameter history: from `history()`, for one of many forecasts; nil to read it.
  package func forecast(
    _ plan: Plan, _ options: Options, from history: [RunRecord]? = nil
  ) throws(RunError) -> Forecast {
    var execution = Execution(plan, options, on: self)
    do {
      try execution.identify()
      let history = try history ?? self.history()
      let survey = try execution.survey(remembering: history)
      var forecast = try Forecast(
        plan, survey: survey, executors: executors, keepsEverything: options.keepsEverything)
      forecast.unpublishedByteCount = execution.unpublishedByteCount(survey)
      forecast.refusals = execution.refusals(survey)
      forecast.receipts = execution.receiptNames.compactMap { step, fileNames in
        fileNames.last.map { Forecast.Receipt(step: step.id, path: "\(execution.folder)/\($0)") }
      }
      forecast.areRefusalsCertain = !execution.awaitsIdentity(survey)
      forecast.learn(from: history, plan, recordings: execution.recordings)
      return forecast
    } catch {
      throw execution.failure(error)
    }
  }

  /// How long an identified run takes; nil if that cannot be estimated, for which a run does not
  /// fail: its work will tell what is the matter.
  private func estimate(_ execution: Execution) -> WorkEstimate? {
    guard let history = try? history(),
      let survey = try? execution.survey(remembering: history),
      var forecast = try? Forecast(
        execution.plan, survey: survey, executors: executors,
        keepsEverything: execution.options.keepsEverything)
    else { return nil }
    forecast.learn(from: history, execution.plan, recordings: execution.recordings)
    return forecast.work
  }

  /// Runs the plan to its end on the calling thread. Blocks.
  /// - Parameter record: the run's initial record; every change of it is saved.
  /// - Returns: the final record.
  package func run(
    _ plan: Plan, _ options: Options, record: RunRecord
  ) throws(RunError) -> RunRecord {
    var record = record
    record.workplace = receiptWriter?.host
    record.inputNames = plan.inputNames
    record.soundInputs = plan.inputNames.filter { plan.inputKinds[$0] == .sound }
    let warnings = WarningMemory(recorder)
    var runner = self
    runner.recorder = warnings
    var execution = Execution(plan, options, on: runner)
    execution.run = record.id
    var progress = RunProgress(record, plan: plan, clock: clock)
    var isRecorded = false
    do {
      try log.save(progress.record)
      isRecorded = true
      recorder.record(.started(progress.record))
      plan.skipped.forEach { recorder.record(.skipped($0)) }
      for (step, text) in plan.captionsOfOtherSound { runner.recorder.record(.warning(step, text)) }
      try execution.checkNames()
      try execution.checkReceiptWriter()
      try execution.checkDelivery()
      try execution.identify()
      progress.identify(execution.recordings)
      try execution.checkReceiptPlaces(progress.record)
      try log.save(progress.record)
      let survey = try execution.survey()
      try execution.checkPlaces(survey, progress.record)
      if options.isEstimated {
        progress.estimate = estimate(execution)
        progress.estimate.map { recorder.record(.estimated($0)) }
      }
      try execution.work(&progress, from: survey)
      try execution.publish(&progress)
      try execution.deliver(&progress)
      progress.note(warnings.texts)
      progress.end(.done, at: clock.now)
      try log.save(progress.record)
    } catch {
      let cause = execution.explainLostStore(execution.failure(error))
      var failure = execution.explainFullDisk(cause, progress)
      let isStopped = failure.error.cause == .cancelled
      let isUnneeded = failure.error.kind == .unneeded
      let isPaused =
        failure.error.cause == .fullDisk && !RoomNeed.isRefusal(failure.error)
      // A file of a batch that cannot be taken is a failure of the batch, which has begun.
      let isRefused =
        RoomNeed.isRefusal(failure.error)
        ? !progress.hasBegun : progress.isUntouched && progress.record.batch == nil
      execution.reportEarly(&progress)
      progress.note(warnings.texts)
      progress.end(
        isUnneeded
          ? .dropped
          : isStopped ? .interrupted : isPaused ? .paused : isRefused ? .refused : .failed,
        at: clock.now,
        failure: isStopped ? nil : failure.error, step: failure.step)
      // The first failure is the one to report, even if it cannot be recorded.
      isRecorded = (try? log.save(progress.record)) != nil || isRecorded
      if !isRecorded, !RoomNeed.isRefusal(failure.error) {
        // An unrecorded run cannot be resumed by its name.
        execution.options.resumeCommand = nil
        failure = execution.explainFullDisk(cause, progress)
      }
      recorder.record(.ended(progress.record))
      throw failure
    }
    recorder.record(.ended(progress.record))
    return progress.record
  }
}

/// Time and randomness, injected into the engine.
package protocol RunClock: Sendable {
  /// Seconds since 1970.
  var now: Double { get }
  /// Seconds of monotonic time, which excludes time while the process is stopped (SIGSTOP, a frozen
  /// container). For timeouts and speeds.
  var elapsed: Double { get }
  /// A random number between 0 and 1.
  func jitter() -> Double
  /// Waits, or returns at once when the user asks to stop.
  func sleep(_ seconds: Double, unless stop: StopRequest)
}

/// Words with what people have corrected in them.
package enum CorrectedWords: Hashable, Sendable {
  /// Nothing in them is corrected.
  case unchanged
  /// The corrected words, as the stages write transcripts.
  case changed(String)
  /// Where they were heard is not known before the steps above them are done.
  case unknown
}

/// Gives words of a run with the corrections of their recording.
///
/// `words` are an output of one of the steps in the run's record, which has only the steps above the one
/// that takes them. The record is to be made only where something is corrected: it reads their findings.
/// `warn` takes what people are to know of corrections that do not count.
package typealias WordOverlay =
  @Sendable (
    _ words: StepOutput, _ run: () -> RunRecord, _ warn: (String) -> Void
  ) throws(SpoolError) -> CorrectedWords

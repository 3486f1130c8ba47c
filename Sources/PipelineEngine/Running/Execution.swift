import PipelineModel
import Platform
import Synchronization

/// One run of a plan by a runner: what all of its work shares.
struct Execution: Sendable {
  let runner: Runner
  let plan: Plan
  /// The run; nil for a forecast.
  var run: RunID?
  var options: Runner.Options
  /// The identities of the plan's inputs; empty until they are read.
  private(set) var recordings: [String: StepOutput] = [:]
  /// The plan's input files as they were identified; none until they are read.
  private(set) var files = IdentifiedFiles([:])
  /// The run's own folder for its files; nil for the output folder.
  let enclosure: ReceiptRequest.Enclosure?
  /// The folder of the run's files.
  let folder: String
  private(set) var exportFolder: RunExportFolder
  let exports: EarlyExports
  let corrections = Corrections()

  var store: any ArtifactStore { runner.store }
  var recorder: any RunRecorder { runner.recorder }
  var clock: any RunClock { runner.clock }

  init(_ plan: Plan, _ options: Runner.Options, on runner: Runner) {
    self.runner = runner
    self.plan = plan
    self.options = options
    enclosure = plan.enclosure { plan.exportNames(of: $0, options.names) }
    folder = enclosure.map { options.folder + "/" + $0.place } ?? options.folder
    let exports = EarlyExports()
    self.exports = exports
    exportFolder = RunExportFolder(
      base: runner.exportFolder, pipeline: plan.name, exports: exports,
      seal: enclosure.map { "\(options.folder)/\($0.folder)/\($0.seal)" })
    exportFolder.takePlace = options.takePlace
    if options.makesFolder, !FilePath.exists(options.folder) {
      exportFolder.missingFolder = options.folder
    }
    exportFolder.receipts = Set(
      receiptNames.flatMap(\.fileNames).map { [folder] in "\(folder)/\($0)" })
  }

  /// Reads the identities of the plan's recordings.
  mutating func identify() throws {
    (recordings, files) = try readRecordings()
    for (name, output) in recordings where plan.inputKinds[name] == .sound {
      guard let path = plan.inputs[name] else { continue }
      exportFolder.inputs[name] = RecordingIdentity(path: path, digest: output.identity)
    }
  }

  /// - Parameter history: earlier runs, for a forecast: what they had of a step that is to be done
  ///   again tells the keys of those below it. The work itself finds that out.
  func survey(remembering history: [RunRecord] = []) throws(SpoolError) -> Survey {
    let remembered = history.flatMap(\.steps).compactMap { step in
      step.key.map { ($0, step.outputs.mapValues { $0.unkept }) }
    }
    return try Survey(
      plan, recordings: recordings, store: store,
      remembered: Dictionary(remembered, uniquingKeysWith: { newest, _ in newest }),
      corrected: corrected)
  }

  /// The loop: survey, plan the next piece, do it, commit, again.
  /// - Parameter first: what was surveyed just now.
  func work(_ progress: inout RunProgress, from first: Survey) throws {
    var first = Optional(first)
    let planner = PassPlanner(
      plan, keepsEverything: options.keepsEverything, needed: options.neededStep)
    var identified: Set<StepID> = []
    var judged: Set<StepID> = []
    while true {
      let survey = try first.take() ?? self.survey()
      let reused = progress.takeReused(survey, of: plan, store: store)
      for (id, checkpoint) in reused {
        recorder.record(.reused(id, kind: checkpoint.components.kind))
        for text in checkpoint.warnings ?? [] { recorder.record(.warning(id, text)) }
      }
      // The run's inputs must not be collected if it is interrupted.
      if !reused.isEmpty { try runner.log.save(progress.record) }
      try options.mayGoOn?(progress.record)
      try judge(progress, &judged)
      guard let work = planner.next(survey.status) else {
        // Nothing to compute: only publishing is left.
        try checkPlaces(survey, progress.record)
        if progress.isFirstWork { try checkRoom(survey, held: 0) }
        return
      }
      let isDoneHere: Bool
      switch work {
      case .whole(let id):
        isDoneHere = try unlessTakenOver([id]) { try runWhole(id, survey, &progress) }
      case .pass(var outline):
        if let alone = try sourceToIdentify(outline, survey, identified) {
          identified.insert(alone)
          if case .pass(let short) = planner.next(survey.status, sourcesAlone: [alone]) {
            outline = short
          }
        } else {
          try checkPlaces(survey, progress.record)
          preparePublishing(survey)
        }
        let steps = outline.path + outline.listeners.map(\.step)
        isDoneHere = try unlessTakenOver(steps.filter { survey.status[$0] == .pending }) {
          try runPass(outline, survey, &progress)
        }
      }
      if isDoneHere { try runner.log.save(progress.record) }
      if progress.estimate?.drop(whatIsDoneIn: progress.record) == true {
        progress.estimate.map { recorder.record(.estimated($0)) }
      }
    }
  }

  /// The pending source at this pass's start, if the store knows content like it: it is identified
  /// alone first, since everything below may exist already.
  private func sourceToIdentify(
    _ outline: PassPlanner.Outline, _ survey: Survey, _ identified: Set<StepID>
  ) throws -> StepID? {
    guard let id = outline.path.first, let step = plan.step(id), !identified.contains(id),
      case .streaming(let family, .source) = step.descriptor.flow,
      survey.checkpoint(of: id) == nil, outline.path.count + outline.listeners.count > 1
    else { return nil }
    return try isLikeKnown(step, family, survey) ? id : nil
  }

  /// Seconds between two checks of another process's work.
  private static let patience = 0.2

  /// Does a piece of work. If another process took it over while this one was stopped, the run uses
  /// that one's results.
  /// - Returns: the result of `work`; false if it was taken over.
  func unlessTakenOver(_ steps: [StepID], _ work: () throws -> Bool) throws -> Bool {
    do {
      return try work()
    } catch {
      guard failure(error).error.cause == .takenOver else { throw error }
      if let step = steps.first {
        recorder.record(
          .warning(
            step,
            "another process took this over while this one was stopped; what that does is reused"))
      }
      return false
    }
  }

  /// Claims a piece of work, waiting while another process does it.
  func claim(_ work: Digest, _ summary: String) throws -> any WorkClaim {
    var wait = WaitNotice()
    while true {
      switch try store.claim(work, summary: summary) {
      case .granted(let claim): return claim
      case .taken(let owner):
        if let owner = wait.take(owner) {
          recorder.record(
            .waiting(processNumber: owner.processNumber, isStopped: owner.isStopped))
        }
        clock.sleep(Self.patience, unless: runner.stop)
        try runner.stop.check()
      }
    }
  }
}

extension WorkClaim {
  /// Does the work, and then disposes of its unfinished files and its journal: they are deleted when
  /// it is done or impossible, or was made from a file that changed, and stay for resumption after a
  /// failure of the surroundings or a stop.
  func settled<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      let result = try work()
      end()
      return result
    } catch let failure as PassFailure
      where failure.error.cause == .input || failure.error.kind == .changed
    {
      end()
      throw failure
    } catch {
      let hasEntry = (try? lastEntry()) != nil
      if hasEntry || heldByteCount > 0 { release() } else { end() }
      throw error
    }
  }
}

extension Survey {
  /// Whether nothing has changed since the survey: what was to be done is still undone, and what the
  /// steps work with is the same.
  func isCurrent(_ steps: [BoundStep], in store: any ArtifactStore) throws(SpoolError) -> Bool {
    for step in steps {
      switch findings[step.id] {
      case .pending(let components):
        if components.libraries != step.libraries { return false }
        if try store.checkpoint(for: components.key) != nil { return false }
      case .done(let checkpoint):
        if checkpoint.components.libraries != step.libraries { return false }
      case .undetermined, nil: break
      }
    }
    return true
  }
}

/// The waits for other processes to report: each owner once. A pure value.
///
/// A process that has just claimed work holds its lock before its name is written. So an owner
/// without a name is reported only if the next check does not show one.
struct WaitNotice {
  private var last: WorkOwner?
  private var isUnnamed = false

  /// Records the owner of the work, and returns the owner to report, if any.
  mutating func take(_ owner: WorkOwner) -> WorkOwner? {
    guard owner.processNumber > 0 || isUnnamed else {
      isUnnamed = true
      return nil
    }
    isUnnamed = owner.processNumber <= 0
    // The same wait continues if only its name is missing for once.
    if isUnnamed, last != nil { return nil }
    guard owner != last else { return nil }
    last = owner
    return owner
  }
}

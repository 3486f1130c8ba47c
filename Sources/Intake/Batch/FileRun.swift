import PipelineEngine
import PipelineModel
import Platform
import Store
import Synchronization

extension BatchPlan.Job {
  /// Runs the pipeline for the file and records the outcome.
  /// - Parameters:
  ///   - settings: those of the order.
  ///   - id: names the run.
  ///   - batch: the whole batch's.
  ///   - takePlace: takes the place of an export for the file; returns the path of the file of the
  ///     batch that has it, if another one has.
  func run(
    _ order: BatchOrder, _ workplace: BatchEnvironment, settings: Digest, id: RunID,
    of batch: RunID, takePlace: @escaping @Sendable (_ path: String) -> String?
  ) -> BatchFileResult {
    FileRun(
      order: order, workplace: workplace, settings: settings, job: self, takePlace: takePlace
    ).run(id: id, of: batch)
  }
}

/// Processes one file of a batch, from its sidecar to its record.
private struct FileRun {
  let order: BatchOrder
  let workplace: BatchEnvironment
  let settings: Digest
  let job: BatchPlan.Job
  let takePlace: @Sendable (_ path: String) -> String?

  private var path: String { PathText.join(order.folder, job.file.path) }

  func run(id: RunID, of batch: RunID) -> BatchFileResult {
    do throws(RunError) {
      return try process(id: id, of: batch)
    } catch {
      switch error.error.cause {
      case .cancelled:
        return BatchFileResult(
          path: job.file.path, outcome: .interrupted, report: report(of: id))
      // Not the file's failure: with room or a usable key, it resumes.
      case .fullDisk, .blocked:
        var result = BatchFileResult(
          path: job.file.path, outcome: .interrupted, report: report(of: id))
        result.pause = error.error
        return result
      default: return fail(BatchFileResult.Failure(error.error, step: error.step), of: id)
      }
    }
  }

  private func process(id: RunID, of batch: RunID) throws(RunError) -> BatchFileResult {
    let plan: Plan
    let folder: String
    let origins: [String: RecordingOrigin]
    let sidecar: SidecarSettings?
    do throws(SpoolError) {
      sidecar = try job.file.sidecar.map { (path) throws(SpoolError) in
        try SidecarSettings.read(path, of: order)
      }
      if let missing = missingTranscript(of: sidecar), job.transcript == nil,
        let path = job.file.sidecar
      {
        throw Sidecar.refusal(naming: missing, at: PathText.join(order.folder, path))
      }
      plan = try order.plan(for: job.file.path, sidecar: sidecar, transcript: job.transcript)
      folder = try makeOutputFolder(PathText.folder(of: job.name), below: order.output)
      origins = try self.origins()
    } catch {
      throw RunError(error)
    }
    // A resumed run of this file alone must write where the batch would have.
    let request = RunRequest(
      pipelineText: order.pipelineText ?? "", folder: folder, isReplacing: order.isReplacing,
      keepsEverything: false, names: [order.input: BatchOrder.calledPath(job.name)],
      album: order.album.isEmpty ? nil : order.album, pluginFolder: order.pluginFolder,
      chapters: sidecar?.sidecar.chapters.map { [order.input: $0] },
      titles: sidecar?.sidecar.title.map { [order.input: $0] },
      recordingFolder: PathText.folder(of: job.file.path), signing: order.signing)
    if let step = plan.exportingSteps.first {
      for problem in sidecar?.sidecar.exportProblems ?? [] {
        workplace.recorder.record(
          .warning(path: job.file.path, step: step.id, text: "in the sidecar, \(problem)"))
      }
      if let missing = missingTranscript(of: sidecar), let transcript = job.transcript {
        workplace.recorder.record(
          .warning(
            path: job.file.path, step: step.id,
            text: "\(Sidecar.complaint(naming: missing)): \(transcript) is used"))
      }
    }
    if sidecar != nil, let usual = try? order.plan.settled(order.album) {
      for step in order.album.keys.sorted()
      where usual.step(step)?.parameters != plan.step(step)?.parameters {
        workplace.recorder.record(
          .warning(
            path: job.file.path, step: step,
            text: "one gain holds for the whole album, whatever the sidecar sets"))
      }
    }
    var options = Runner.Options(request)
    options.ignoresRoom = order.ignoresRoom
    options.origins = origins
    options.takePlace = takePlace
    let own = (sidecar?.overrides ?? [:]).mapValues(\.overrideText)
    let record = try workplace.runner(
      FileRecorder(job.file.path, plan, workplace.recorder), receipts: workplace.receiptWriter
    ).run(
      plan, options,
      record: RunRecord(
        id: id, pipeline: plan.name, pipelinePath: order.pipelinePath, inputs: plan.inputs,
        overrides: order.overrideTexts.merging(own) { _, own in own },
        startedAt: workplace.clock.now, request: order.pipelineText == nil ? nil : request,
        batch: RunRecord.Batch(
          batch: batch, folder: order.folder, output: order.output, command: order.command,
          overrides: order.overrideTexts),
        plugins: order.plugins))
    do throws(SpoolError) { return try finish(record, plan) } catch {
      throw RunError(error)
    }
  }

  /// The transcript that a sidecar names, where that is not what the file has.
  private func missingTranscript(of sidecar: SidecarSettings?) -> String? {
    guard order.transcriptInput != nil,
      case .missing(let name)? = sidecar?.sidecar.transcript(exists: { name in
        job.transcript.map { PathText.name(of: $0) == name.description } ?? false
      })
    else { return nil }
    return name
  }

  /// The origin of the file for a receipt: the sidecar may have decided on its settings.
  private func origins() throws(SpoolError) -> [String: RecordingOrigin] {
    guard order.asksForReceipts, let sidecar = job.file.sidecar else { return [:] }
    let bytes = try SidecarSettings.bytes(sidecar, of: order)
    return [
      order.input: RecordingOrigin(
        name: PathText.name(of: job.file.path), sidecarName: PathText.name(of: sidecar),
        sidecar: try workplace.store.keep(bytes, as: .file))
    ]
  }

  private func finish(
    _ record: RunRecord, _ plan: Plan
  ) throws(SpoolError) -> BatchFileResult {
    var record = record
    // Nothing was streamed if everything was reused, perhaps from another file.
    record.mediaSeconds = record.mediaSeconds ?? workplace.length(path)
    // A file that changed meanwhile is not done: the next batch processes it again.
    let recording = record.recordings?[order.input]
    let now = try workplace.store.digest(ofFile: path) { (_, _) throws(SpoolError) in
      try workplace.stop.check()
    }
    let report = FileReport.json(
      path: job.file.path, name: job.name, wantedName: job.wantedName, run: record, plan: plan,
      output: order.output
    )
    try remember(
      .done, recording: now == recording ? recording : nil, record.mediaSeconds, report,
      exports: record.published.map(\.path),
      artifacts: Set(record.steps.flatMap { $0.outputs.values.compactMap(\.artifact?.digest) }))
    // A file that is too young to be identified by its stamp, or whose record is lost, may need no
    // work.
    let hasNews =
      record.steps.contains { $0.outcome == .made } || record.published.contains { !$0.wasThere }
    return BatchFileResult(
      path: job.file.path, outcome: hasNews ? .done : .reused, mediaSeconds: record.mediaSeconds,
      report: report)
  }

  private func fail(_ failure: BatchFileResult.Failure, of id: RunID) -> BatchFileResult {
    let report = report(failure, of: id)
    // The next batch finds a failure that cannot be recorded.
    try? remember(.failed, recording: nil, nil, report, exports: [])
    return BatchFileResult(
      path: job.file.path, outcome: .failed, failure: failure, report: report)
  }

  /// - Parameter id: a run that was not done. Its failed step may have findings, and it may have
  ///   written exports before.
  private func report(_ failure: BatchFileResult.Failure? = nil, of id: RunID) -> String {
    let run = try? workplace.store.runs.run(named: id.name)
    return FileReport.json(
      path: job.file.path, name: job.name, wantedName: job.wantedName, run: run,
      output: order.output, findings: (run?.steps ?? []).filter { $0.outcome == .failed },
      failure: failure)
  }

  private func remember(
    _ state: BatchEntry.State, recording: Digest?, _ mediaSeconds: Double?, _ report: String,
    exports: [String], artifacts: Set<Digest> = []
  ) throws(SpoolError) {
    let entry = BatchEntry(
      path: job.file.path, recording: recording, sidecar: job.sidecar, settings: settings,
      name: job.name, state: state, mediaSeconds: mediaSeconds, report: report)
    try workplace.store.batches.remember(
      entry, of: order.identity, exports: exports, artifacts: artifacts)
  }
}

/// Turns the events of one file's run into the batch's.
private final class FileRecorder: RunRecorder {
  /// The smallest step of progress that is reported.
  private static let stride = 0.02

  private let path: String
  private let recorder: any BatchRecorder
  /// The progress of each step, from 0 to 1, and the last reported one of the file: every step
  /// counts alike.
  private let state: Mutex<(shares: [StepID: Double], told: Double)>

  init(_ path: String, _ plan: Plan, _ recorder: any BatchRecorder) {
    self.path = path
    self.recorder = recorder
    let shares = plan.steps.map { ($0.id, 0.0) }
    state = Mutex((Dictionary(shares, uniquingKeysWith: { first, _ in first }), 0))
  }

  func record(_ event: RunEvent) {
    if case .hashing(_, let done, let total) = event {
      return recorder.record(.hashing(path: path, done: done, total: total))
    }
    if let (step, text) = event.concern {
      recorder.record(.warning(path: path, step: step, text: text))
    }
    let news = state.withLock { state -> Double? in
      switch event {
      case .reused(let id, _): state.shares[id] = 1
      case .finished(let record): state.shares[record.id] = 1
      case .progress(let id, let done, let total?) where total > 0:
        state.shares[id] = max(state.shares[id] ?? 0, min(done / total, 1))
      default: break
      }
      let fraction = state.shares.values.reduce(0, +) / Double(max(1, state.shares.count))
      guard fraction - state.told >= Self.stride else { return nil }
      state.told = fraction
      return fraction
    }
    if let news { recorder.record(.progress(path: path, fraction: news)) }
  }
}

/// Creates the folder at a path below an output folder if missing, and flushes each new name.
/// Follows the user's own links. The output folder itself must exist: one whose disk is away must
/// not be created elsewhere.
/// - Returns: its absolute path.
func makeOutputFolder(_ path: String, below root: String) throws(SpoolError) -> String {
  let advice = "make it writable, or choose another folder with \(option: .out)"
  let files = FileOperations.system
  var current = root
  for name in path.pathNames {
    let parent = current
    current = PathText.join(current, String(name))
    if (try? FileStamp(at: current)) == nil {
      try doing("make the folder", current, advice: advice) { () throws(SystemError) in
        try files.makeFolder(current, mode: 0o777)
      }
      try doing("flush", parent, advice: advice) { () throws(SystemError) in
        try files.flushFolder(parent)
      }
    }
    let stamp = try doing("use the folder", current, advice: advice) { () throws(SystemError) in
      try FileStamp(following: current)
    }
    guard stamp.isFolder else {
      throw SpoolError(
        "use the folder", current, reason: "there is a file of that name",
        advice: "move it away, or choose another folder with \(option: .out)")
    }
  }
  return current
}

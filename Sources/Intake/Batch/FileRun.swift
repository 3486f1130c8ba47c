import Glibc
import PipelineEngine
import PipelineModel
import Platform
import Store
import Synchronization

/// Processes one file of a batch, from its sidecar to its record.
struct FileRun {
  let order: BatchOrder
  let workplace: BatchEnvironment
  let settings: Digest
  let job: BatchPlan.Job

  private var path: String { PathText.join(order.folder, job.file.path) }

  /// Runs the pipeline and records the outcome. `id` names the run, `batch` the whole batch.
  func run(id: RunID, of batch: RunID) -> BatchFileResult {
    var plan: Plan?
    do throws(RunError) {
      let recording = try digest()
      let (sidecar, bound) = try asRunError { () throws(SpoolError) in
        let sidecar = try job.file.sidecar.map { (path) throws(SpoolError) in
          try SidecarFile.read(path, of: order)
        }
        return (
          sidecar,
          try order.plan(
            for: job.file.path, sidecar: sidecar, transcript: job.transcript)
        )
      }
      plan = bound
      let record = try run(bound, sidecar, id, of: batch)
      return try finish(record, bound, recording)
    } catch {
      switch error.error.cause {
      case .cancelled:
        return BatchFileResult(path: job.file.path, outcome: .interrupted, report: report())
      // Not the file's failure: with room or a usable key, it resumes.
      case .fullDisk, .blocked:
        var result = BatchFileResult(
          path: job.file.path, outcome: .interrupted, report: report())
        result.pause = error.error
        return result
      default: break
      }
      return fail(error, plan)
    }
  }

  private func run(
    _ plan: Plan, _ sidecar: SidecarSettings?, _ id: RunID, of batch: RunID
  ) throws(RunError) -> RunRecord {
    let folder = try asRunError { () throws(SpoolError) in
      try OutputTree(root: order.output).makeFolder(PathText.folder(of: job.name))
    }
    let runner = Runner(
      store: workplace.store, log: workplace.store.runs, executors: workplace.executors,
      recorder: FileRecorder(job.file.path, FileProgress(plan), workplace.recorder),
      stop: workplace.stop, clock: workplace.clock, receiptWriter: workplace.receiptWriter)
    var options = Runner.Options(folder: folder)
    options.isReplacing = order.isReplacing
    options.ignoresRoom = order.ignoresRoom
    options.origins = try origins(of: plan)
    options.names = [order.input: BatchOrder.calledPath(job.name)]
    // A resumed run of this file alone must write where the batch would have.
    let request = order.pipelineText.map {
      RunRequest(
        pipelineText: $0, folder: folder, isReplacing: order.isReplacing, keepsEverything: false,
        names: options.names, album: order.album.isEmpty ? nil : order.album,
        pluginFolder: order.pluginFolder)
    }
    let own = (sidecar?.overrides ?? [:]).mapValues(\.flowText)
    return try runner.run(
      plan, options,
      record: RunRecord(
        id: id, pipeline: plan.name, pipelinePath: order.pipelinePath, inputs: plan.inputs,
        overrides: order.overrideTexts.merging(own) { _, own in own },
        startedAt: workplace.clock.now, request: request,
        batch: BatchMembership(batch: batch, folder: order.folder, command: order.command),
        plugins: order.plugins))
  }

  /// The origin of the file for a receipt: the sidecar may have decided on its settings.
  private func origins(of plan: Plan) throws(RunError) -> [String: RecordingOrigin] {
    guard order.asksForReceipts, let sidecar = job.file.sidecar else { return [:] }
    let bytes = try asRunError { () throws(SpoolError) in
      try SidecarFile.bytes(sidecar, of: order)
    }
    let artifact = try asRunError { () throws(SpoolError) in
      return try workplace.store.keep(bytes, as: .file)
    }
    return [
      order.input: RecordingOrigin(
        name: PathText.name(of: job.file.path), sidecarName: PathText.name(of: sidecar),
        sidecar: artifact)
    ]
  }

  private func finish(
    _ record: RunRecord, _ plan: Plan, _ recording: Digest
  ) throws(RunError) -> BatchFileResult {
    var record = record
    // Nothing was streamed if everything was reused, perhaps from another file.
    record.mediaSeconds = record.mediaSeconds ?? workplace.length(path)
    // A file that changed meanwhile is not done: the next batch processes it again.
    let isSame = try digest() == recording
    let report = FileReport(
      path: job.file.path, name: job.name, wantedName: job.wantedName, run: record, plan: plan,
      output: order.output
    ).json
    try remember(
      .done, recording: isSame ? recording : nil, record.mediaSeconds, report,
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

  private func fail(_ error: RunError, _ plan: Plan?) -> BatchFileResult {
    let failure = BatchFileResult.Failure(error.error, step: error.step)
    let report = report(failure)
    // The next batch finds a failure that cannot be recorded.
    try? remember(.failed, recording: nil, nil, report, exports: [])
    return BatchFileResult(
      path: job.file.path, outcome: .failed, failure: failure, report: report)
  }

  private func report(_ failure: BatchFileResult.Failure? = nil) -> String {
    FileReport(
      path: job.file.path, name: job.name, wantedName: job.wantedName, failure: failure
    ).json
  }

  private func remember(
    _ state: BatchEntry.State, recording: Digest?, _ mediaSeconds: Double?, _ report: String,
    exports: [String], artifacts: Set<Digest> = []
  ) throws(RunError) {
    let entry = BatchEntry(
      path: job.file.path, recording: recording, sidecar: job.sidecar, settings: settings,
      name: job.name, state: state, mediaSeconds: mediaSeconds, report: report)
    do throws(SpoolError) {
      try workplace.store.batches.remember(
        entry, of: order.identity, exports: exports, artifacts: artifacts)
    } catch {
      throw RunError(error)
    }
  }

  private func digest() throws(RunError) -> Digest {
    do throws(SpoolError) { return try workplace.store.digest(ofFile: path) } catch {
      throw RunError(error, recording: path)
    }
  }

  private func asRunError<Result>(
    _ work: () throws(SpoolError) -> Result
  ) throws(RunError) -> Result {
    do throws(SpoolError) { return try work() } catch {
      throw RunError(error, recording: path)
    }
  }
}

/// Turns the events of one file's run into the batch's.
final class FileRecorder: RunRecorder {
  /// The smallest step of progress that is reported.
  private static let stride = 0.02

  private let path: String
  private let recorder: any BatchRecorder
  private let state: Mutex<(progress: FileProgress, told: Double)>

  init(_ path: String, _ progress: FileProgress, _ recorder: any BatchRecorder) {
    self.path = path
    self.recorder = recorder
    state = Mutex((progress, 0))
  }

  func record(_ event: RunEvent) {
    if let (step, text) = event.concern {
      recorder.record(.warning(path: path, step: step, text: text))
    }
    let news = state.withLock { state -> Double? in
      state.progress.take(event)
      let fraction = state.progress.fraction
      guard fraction - state.told >= Self.stride else { return nil }
      state.told = fraction
      return fraction
    }
    if let news { recorder.record(.progress(path: path, fraction: news)) }
  }
}

/// The progress of one file. A pure value.
struct FileProgress {
  private var shares: [StepID: Double]

  init(_ plan: Plan) {
    shares = Dictionary(plan.steps.map { ($0.id, 0) }, uniquingKeysWith: { first, _ in first })
  }

  /// From 0 to 1: every step counts alike.
  var fraction: Double {
    shares.isEmpty ? 0 : shares.values.reduce(0, +) / Double(shares.count)
  }

  mutating func take(_ event: RunEvent) {
    switch event {
    case .reused(let id, _): shares[id] = 1
    case .finished(let record): shares[record.id] = 1
    case .progress(let id, let done, let total?) where total > 0:
      shares[id] = max(shares[id] ?? 0, min(done / total, 1))
    default: break
    }
  }
}

/// The folders below the output folder.
struct OutputTree: Sendable {
  let root: String

  /// Creates the folder at a path below the root if missing, and flushes each new name. Follows the
  /// user's own links.
  /// - Returns: its absolute path.
  func makeFolder(_ path: String) throws(SpoolError) -> String {
    var current = root
    for name in path.split(separator: "/") {
      let parent = current
      current = PathText.join(current, String(name))
      if unsafe mkdir(current, 0o777) == 0 {
        try flush(parent)
      } else if errno != EEXIST {
        throw failure("make the folder", current)
      }
      var status = stat()
      guard unsafe stat(current, &status) == 0 else { throw failure("use the folder", current) }
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw SpoolError(
          "cannot use the folder \(current)", reason: "there is a file of that name",
          advice: "move it away, or choose another folder with "
            + "\(option: .out)", cause: .environment)
      }
    }
    return current
  }

  private func flush(_ folder: String) throws(SpoolError) {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open", folder) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("flush", folder) }
  }

  private func failure(_ action: String, _ path: String) -> SpoolError {
    let error = SystemError.last
    return SpoolError(
      action, path, error,
      advice: error.isFullDisk
        ? "free some space" : "make it writable, or choose another folder with \(option: .out)")
  }
}

import Sidecars
import Hashing
import PipelineEngine
import PipelineModel

/// The work on one file of a batch, from its sidecar to its record.
struct FileRun {
  let order: BatchOrder
  let workplace: BatchWorkplace
  let settings: Digest
  let job: BatchPlan.Job

  private var path: String { PathText.join(order.folder, job.file.path) }

  /// Does the work and records what came of it. `id` names the run, `batch` the whole batch.
  func run(id: RunID, of batch: RunID) -> BatchFileResult {
    var plan: Plan?
    do throws(RunError) {
      let recording = try digest()
      let (sidecar, bound) = try asRunError { () throws(StageError) in
        let sidecar = try job.file.sidecar.map { (path) throws(StageError) in
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
      // It is not the file's fault: with room again, or a key that can be used, it goes on.
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
    _ plan: Plan, _ sidecar: FileWishes?, _ id: RunID, of batch: RunID
  ) throws(RunError) -> RunRecord {
    let folder = try asRunError { () throws(StageError) in
      try OutputTree(root: order.output).makeFolder(PathText.folder(of: job.name))
    }
    let runner = Runner(
      store: workplace.store, executors: workplace.executors,
      recorder: FileRecorder(job.file.path, FileProgress(plan), workplace.recorder),
      stop: workplace.stop, clock: workplace.clock, witness: workplace.witness)
    var options = Runner.Options(folder: folder)
    options.isReplacing = order.isReplacing
    options.ignoresRoom = order.ignoresRoom
    options.origins = try origins(of: plan)
    options.names = [order.input: BatchOrder.calledPath(job.name)]
    // Whoever goes on with this file alone is to write where the batch would have.
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

  /// Where the file comes from, for a receipt: the sidecar that may have decided on its settings.
  private func origins(of plan: Plan) throws(RunError) -> [String: RecordingOrigin] {
    guard order.asksForReceipts, let sidecar = job.file.sidecar else { return [:] }
    let bytes = try asRunError { () throws(StageError) in
      try SidecarFile.bytes(sidecar, of: order)
    }
    let artifact = try asRunError { () throws(StageError) in
      do throws(StoreError) { return try workplace.store.keep(bytes, as: .file) } catch {
        throw StageError(error)
      }
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
    // Nothing was streamed where all of it was done before, for another file perhaps.
    record.mediaSeconds = record.mediaSeconds ?? workplace.length(path)
    // What changed meanwhile is not done: next time it is looked at again.
    let isSame = try digest() == recording
    let report = FileReport(
      path: job.file.path, name: job.name, wantedName: job.wantedName, run: record, plan: plan,
      output: order.output
    ).json
    try remember(
      .done, recording: isSame ? recording : nil, record.mediaSeconds, report,
      exports: record.published.map(\.path),
      artifacts: Set(record.steps.flatMap { $0.outputs.values.compactMap(\.artifact?.digest) }))
    // A file that is too young to be told by its stamp, or whose record is gone, may have nothing
    // left to do.
    let hasNews =
      record.steps.contains { $0.outcome == .made } || record.published.contains { !$0.wasThere }
    return BatchFileResult(
      path: job.file.path, outcome: hasNews ? .done : .reused, mediaSeconds: record.mediaSeconds,
      report: report)
  }

  private func fail(_ error: RunError, _ plan: Plan?) -> BatchFileResult {
    let failure = BatchFileResult.Failure(error.error, step: error.step)
    let report = report(failure)
    // A failure that cannot be recorded is found again by the next batch.
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
    do throws(StoreError) {
      try workplace.store.remember(
        entry, of: order.identity, exports: exports, artifacts: artifacts)
    } catch {
      throw RunError(StageError(error))
    }
  }

  private func digest() throws(RunError) -> Digest {
    do throws(StoreError) { return try workplace.store.digest(ofFile: path) } catch {
      throw RunError(StageError(error), recording: path)
    }
  }

  private func asRunError<Result>(
    _ work: () throws(StageError) -> Result
  ) throws(RunError) -> Result {
    do throws(StageError) { return try work() } catch {
      throw RunError(error, recording: path)
    }
  }
}

import PipelineModel
import Platform

/// The inputs and outputs of a run: recordings, disk room, export names and folders.
extension Execution {
  /// The identities of a plan's recordings, whose bytes are read in parallel: a session has many
  /// tracks. Reports the first unreadable one, by name.
  func readRecordings() throws(SpoolError) -> (
    identities: [String: StepOutput], files: IdentifiedFiles
  ) {
    let inputs = plan.files.sorted { $0.key < $1.key }
    let pool = WorkerPool(threadCount: min(inputs.count, CoreCount.online), name: "identify")
    let results = OrderedResults<Result<(digest: Digest, stamp: FileStamp), SpoolError>>(
      pool: pool, limit: max(1, inputs.count))
    for (_, file) in inputs {
      results.submit { [runner] in
        Result { () throws(SpoolError) in try IdentifiedFiles.identify(file, on: runner) }
      }
    }
    var identities: [String: StepOutput] = [:]
    var stamps: [SourceFile: FileStamp] = [:]
    for (name, file) in inputs {
      guard let found = try results.next()?.get() else { continue }
      identities[name] = StepOutput(kind: plan.inputKinds[name] ?? .file, identity: found.digest)
      stamps[file] = found.stamp
    }
    return (identities, IdentifiedFiles(stamps))
  }

  /// Does work that reads files. If one of them changed meanwhile, that is the reason of whatever
  /// failure it led to.
  func reading<Result>(
    _ files: IdentifiedFiles, in step: StepID?, _ work: () throws -> Result
  ) throws -> Result {
    do {
      try files.check()
      return try work()
    } catch {
      guard ![.cancelled, .takenOver].contains(failure(error).error.cause) else { throw error }
      do throws(SpoolError) { try files.check() } catch { throw PassFailure(step, error) }
      throw error
    }
  }

  /// Throws, before any work, for exports that would replace each other or a recording.
  func checkNames() throws(PassFailure) {
    var owners: [String: StepID] = [:]
    for step in plan.steps {
      guard let stage = step.stage as? any PublishingStage else { continue }
      let recordings = names(of: step)
      for name in stage.conceivableFileNames(of: step.id, recordings: recordings) {
        let path = folder + "/" + name
        if let owner = owners.updateValue(step.id, forKey: name) {
          let other = step.descriptor.naming(step.id.name, insteadOf: name)
          throw PassFailure(
            step.id,
            SpoolError(
              "\(path) would be written twice", reason: "the step \(owner) writes it as well",
              advice: other.map { "give one of them another name, such as \($0)" }
                ?? "take one of them out of the pipeline"))
        }
        if !stage.stepsAside, isInput(path) {
          throw PassFailure(
            step.id,
            SpoolError(
              "\(path) is the recording itself", reason: "an export would take its place",
              advice: "choose another folder with \(option: .out)"))
        }
      }
    }
  }

  /// Whether a path is that of a file that the run reads.
  func isInput(_ path: String) -> Bool {
    plan.files.values.contains { exportFolder.isSameFile($0.path, path) }
  }

  /// The recordings of a step's exports.
  func inputFiles(of step: BoundStep) -> [SourceFile] {
    plan.recordings(of: step.id).compactMap { plan.files[$0] }
  }

  /// The names for a step's exports, in the order of `inputFiles`.
  func names(of step: BoundStep) -> [String] { plan.exportNames(of: step, options.names) }

  /// The file that a step's exports are named after; nil where the user gave them names, as a batch
  /// does.
  func namesake(of step: BoundStep) -> String? {
    names(of: step).first.flatMap { plan.inputs.values.contains($0) ? $0 : nil }
  }

  /// The room that the rest needs, and what is free now.
  /// - Parameter held: bytes of unfinished files that the work resumes with.
  func roomNeed(_ survey: Survey, held: Int) throws -> RoomNeed {
    let forecast = try Forecast(
      plan, survey: survey, executors: runner.executors, keepsEverything: options.keepsEverything)
    // Only begun work can have published files before its end.
    let early = held > 0 ? earlyByteCount(survey) : 0
    return RoomNeed(
      folder: options.folder, storeByteCount: max(0, forecast.storeByteCount - held),
      folderByteCount: max(0, forecast.publishedByteCount - early)
        + unpublishedByteCount(survey),
      storeFreeByteCount: try store.freeByteCount(),
      folderFreeByteCount: try exportFolder.freeByteCount(at: options.folder),
      sharesDisk: exportFolder.sharesDisk(with: options.folder))
  }

  /// Throws, with figures, if the rest of a run cannot fit; only warns if that is overridden.
  func checkRoom(_ survey: Survey, held: Int) throws {
    let need = try roomNeed(survey, held: held)
    guard let refusal = need.refusal else { return }
    guard options.ignoresRoom, let step = plan.steps.first?.id else { throw refusal }
    recorder.record(
      .warning(
        step, "\(refusal.message): \(refusal.reason ?? ""); where a disk gets full, the run pauses")
    )
  }

  func failure(_ error: any Error) -> RunError {
    switch error {
    case let error as RunError: return error
    case let failure as PassFailure:
      let step = failure.step.flatMap { plan.step($0) }
      let recording = (failure.step ?? plan.steps.first?.id).flatMap {
        plan.recordings(of: $0).first
      }
      return RunError(
        named(failure.error), step: failure.step, kind: step?.descriptor.kind,
        recording: recording.flatMap { plan.inputs[$0] })
    case let error as SpoolError: return RunError(named(error))
    default: return RunError(SpoolError("the run failed", reason: "\(error)"))
    }
  }

  /// An error as users read it: they know the inputs by their names.
  func named(_ error: SpoolError) -> SpoolError {
    error.naming(Dictionary(plan.files.values.map { ($0.path, $0.name) }) { first, _ in first })
  }
}

/// The message for a disk that fills up during a run: which one, how much is missing, and that
/// nothing done is lost.
extension Execution {
  /// Adds place, figures and advice to a full-disk failure; returns any other as it is.
  /// - Parameter progress: how far the run came.
  func explainFullDisk(
    _ failure: RunError, _ progress: RunProgress
  ) -> RunError {
    guard failure.error.cause == .fullDisk, !RoomNeed.isRefusal(failure.error) else {
      return failure
    }
    if progress.isUntouched { return refuse(failure, progress) }
    let isFolder = failure.error.path.hasPrefix(options.folder + "/")
    var reason = failure.error.reason ?? "No space left on device"
    if let need = remainingNeed(progress) {
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
      isFolder ? "the disk of \(options.folder) is full" : failure.error.message,
      reason: reason,
      advice: "what is done is kept: free some space, then "
        + (options.resumeCommand ?? "running the same again") + " goes on",
      cause: .fullDisk)
    return RunError(
      error, step: failure.step, kind: failure.kind, recording: failure.recording)
  }

  /// Words a full disk at a run's very first write: it did not begin; with the room that it needs.
  private func refuse(
    _ failure: RunError, _ progress: RunProgress
  ) -> RunError {
    RunError(
      RoomNeed.refusal(after: failure.error, remainingNeed(progress)), recording: failure.recording)
  }

  /// What the rest of a run will write, and what is free now; nil if unknown.
  private func remainingNeed(_ progress: RunProgress) -> RoomNeed? {
    var execution = self
    // Nothing was written before they were read.
    if recordings.isEmpty, (try? execution.identify()) == nil { return nil }
    guard let survey = try? execution.survey() else { return nil }
    return try? execution.roomNeed(survey, held: progress.heldByteCount)
  }
}

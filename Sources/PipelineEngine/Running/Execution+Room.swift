import PipelineModel
import Platform
import Synchronization

/// The inputs and outputs of a run: recordings, disk room, export names and folders.
extension Execution {
  /// The identities of a plan's recordings, whose bytes are read in parallel: a session has many
  /// tracks. Reports the first unreadable one, by name.
  func readRecordings() throws -> (
    identities: [String: StepOutput], files: IdentifiedFiles
  ) {
    let inputs = plan.files.sorted { $0.key < $1.key }
    let pool = WorkerPool(threadCount: min(inputs.count, CoreCount.online), name: "identify")
    let results = OrderedResults<Result<(digest: Digest, stamp: FileStamp), any Error>>(
      pool: pool, limit: max(1, inputs.count))
    for (name, file) in inputs {
      results.submit { Result { try identify(file, of: name) } }
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

  /// A file of so many bytes is opened as a recording before it is read: the rest is read within the
  /// time that this takes.
  private static let probedByteCount = 16 << 20
  /// Seconds between two reports of how much of a file is read.
  private static let hashingInterval = 0.25

  /// Identifies an input's file, until the run is to stop. A long file that is no recording is refused
  /// before it is read.
  private func identify(
    _ file: SourceFile, of input: String
  ) throws -> (digest: Digest, stamp: FileStamp) {
    var toldAt = clock.elapsed
    var refusal: PassFailure?
    do throws(SpoolError) {
      return try IdentifiedFiles.identify(file, on: runner) { (done, total) throws(SpoolError) in
        try runner.stop.check()
        if done == 0, total >= Self.probedByteCount, let (step, executor) = reader(of: input) {
          do throws(SpoolError) { try executor.probe(file) } catch {
            refusal = PassFailure(step, error)
            throw error
          }
        }
        guard clock.elapsed - toldAt >= Self.hashingInterval else { return }
        toldAt = clock.elapsed
        recorder.record(.hashing(path: file.name, done: done, total: total))
      }
    } catch {
      if let refusal { throw refusal }
      throw error
    }
  }

  /// The step that streams an input's file, with what runs it; nil if none does.
  private func reader(of input: String) -> (step: StepID, executor: any PassExecutor)? {
    for step in plan.steps {
      guard case .streaming(let family, .source) = step.descriptor.flow,
        step.orderedSources.contains(where: { $0.source == .input(input) }),
        let executor = runner.executors[family]
      else { continue }
      return (step.id, executor)
    }
    return nil
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
        if !stage.stepsAside, let (owner, way) = occupant(of: path) {
          throw PassFailure(
            step.id,
            SpoolError(
              "\(path) is \(owner)", reason: "an export would take its place",
              advice: "choose another folder with \(option: .out)\(way)"))
        }
      }
    }
  }

  /// What of the user's lies at a path that no export may have, and what can be chosen besides another
  /// folder; nil if nothing does.
  private func occupant(of path: String) -> (owner: String, way: String)? {
    if isInput(path) { return ("the recording itself", "") }
    return isSidecar(path) ? ("the sidecar of a recording", ", or another name") : nil
  }

  /// Whether a path is that of a file beside a recording that may describe it, and that Spool did not
  /// write.
  private func isSidecar(_ path: String) -> Bool {
    guard path.hasSuffix(".json"), FilePath.exists(path),
      exportFolder.byteCount(ofPublished: path) == nil
    else { return false }
    return plan.files.values.contains { file in
      let stem = FilePath.folder(of: file.path) + "/" + ExportName.plainStem(of: file.path)
      return [stem, file.path].contains { exportFolder.isSameFile("\($0).json", path) }
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
  /// does, unless the pipeline gives them others.
  func namesake(of step: BoundStep) -> String? {
    guard let name = names(of: step).first else { return nil }
    if plan.inputs.values.contains(name) { return name }
    let files = (step.stage as? any PublishingStage)?
      .fileNames(of: step.id, recordings: names(of: step))
    let stem = ExportName.stem(of: name)
    return files?.contains { $0.contains(stem) } == false ? name : nil
  }

  /// The room that the rest needs, and what is free now.
  /// - Parameter held: bytes of unfinished files that the work resumes with.
  func roomNeed(_ survey: Survey, held: Int) throws -> RoomNeed {
    let forecast = try Forecast(
      plan, survey: survey, executors: runner.executors, keepsEverything: options.keepsEverything)
    // Only begun work can have published files before its end.
    let early = held > 0 ? earlyByteCount(survey) : 0
    var need = RoomNeed(
      folder: options.folder, storeByteCount: max(0, forecast.storeByteCount - held),
      folderByteCount: max(0, forecast.publishedByteCount - early)
        + unpublishedByteCount(survey),
      storeFreeByteCount: try store.freeByteCount(),
      folderFreeByteCount: try exportFolder.freeByteCount(at: options.folder),
      sharesDisk: exportFolder.sharesDisk(with: options.folder))
    need.isResumed = options.isResuming
    return need
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
      return RunError(
        named(failure.error), step: failure.step, kind: step?.descriptor.kind,
        recording: recording(of: failure))
    case let error as SpoolError: return RunError(named(error))
    default: return RunError(SpoolError("the run failed", reason: "\(error)"))
    }
  }

  /// The path of the input that a failure is about: the one that it names, else the step's only
  /// recording. Nil if several may be meant.
  private func recording(of failure: PassFailure) -> String? {
    let inputs = (failure.step ?? plan.steps.first?.id).map { plan.recordings(of: $0) } ?? []
    let words = failure.error.description
    let named = inputs.filter { plan.files[$0].map { words.contains($0.path) } ?? false }
      .max { plan.files[$0]?.path.utf8.count ?? 0 < plan.files[$1]?.path.utf8.count ?? 0 }
    let recordings = inputs.filter { plan.inputKinds[$0] != .transcript }
    return (named ?? (recordings.count < 2 ? inputs.first : nil)).flatMap { plan.inputs[$0] }
  }

  /// What a failure comes from, if the store's folder is gone.
  func explainLostStore(_ failure: RunError) -> RunError {
    if failure.error.cause == .cancelled { return failure }
    do throws(SpoolError) { try store.requirePlace() } catch {
      return RunError(
        error, step: failure.step, kind: failure.kind, recording: failure.recording)
    }
    return failure
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

/// Looks, while a pass writes, whether what is still to be written fits on the store's disk, so that the
/// pass ends before the disk is full for everything else.
final class RoomWatch: Sendable {
  /// Seconds between two looks; a shorter pass is not looked at.
  private static let interval = 1.0
  /// Beyond what was reckoned, the disk has to hold what is written in so many intervals.
  private static let reserve = 4

  private struct State {
    var nextLook: Double
    /// What was reckoned at the first look; nil before it.
    var need: Int?
    var heldByteCount = 0
  }

  private let execution: Execution
  private let survey: Survey
  private let claim: any WorkClaim
  private let state: Mutex<State>

  /// Nil if the user wants no looking at the room.
  init?(_ execution: Execution, _ survey: Survey, _ claim: any WorkClaim) {
    guard !execution.options.ignoresRoom else { return nil }
    self.execution = execution
    self.survey = survey
    self.claim = claim
    state = Mutex(State(nextLook: execution.clock.elapsed + Self.interval))
  }

  /// Throws if the disk will be full before the pass ends.
  func check() throws(SpoolError) {
    let now = execution.clock.elapsed
    let isDue = state.withLock { state in
      guard now >= state.nextLook else { return false }
      state.nextLook = now + Self.interval
      return true
    }
    guard isDue, let free = try? execution.store.freeByteCount() else { return }
    let held = claim.heldByteCount
    let rest = state.withLock { state -> Int in
      // What earlier passes of the run have written is no part of what is left.
      let need = state.need ?? reckoned(held)
      let growth = state.need == nil ? 0 : held - state.heldByteCount
      state.need = max(0, need - max(0, growth))
      state.heldByteCount = held
      return max(state.need ?? 0, growth * Self.reserve)
    }
    guard rest > free else { return }
    throw SpoolError(
      "the disk of \(claim.folder) is full but for \(ByteCount(free))",
      reason: "about \(ByteCount(rest)) are still to be written there", cause: .fullDisk)
  }

  /// The bytes that the rest of the run needs in the store; 0 if that is not known.
  private func reckoned(_ held: Int) -> Int {
    (try? execution.roomNeed(survey, held: held))?.storeByteCount ?? 0
  }
}

import PipelineModel
import Platform

/// The inputs and outputs of a run: recordings, disk room, export names and folders.
extension Runner {
  /// The identities of a plan's recordings, whose bytes are read in parallel: a session has many
  /// tracks. Reports the first unreadable one, by name.
  func identify(_ plan: Plan) throws(SpoolError) -> [String: StepOutput] {
    let inputs = plan.inputs.sorted { $0.key < $1.key }
    let pool = WorkerPool(threadCount: min(inputs.count, CoreCount.online), name: "identify")
    let digests = OrderedResults<Result<Digest, SpoolError>>(
      pool: pool, limit: max(1, inputs.count))
    for (_, path) in inputs {
      digests.submit { [exportFolder] in
        do throws(SpoolError) { return .success(try exportFolder.digest(ofFile: path)) } catch {
          return .failure(error)
        }
      }
    }
    var recordings: [String: StepOutput] = [:]
    for (name, _) in inputs {
      guard let digest = try digests.next()?.get() else { continue }
      recordings[name] = StepOutput(kind: plan.inputKinds[name] ?? .file, identity: digest)
    }
    return recordings
  }

  /// Throws if a recording changed since it was identified: one that is still being written must
  /// not be stored under the digest of an earlier state.
  func checkUnchanged(
    _ order: PassOrder, _ recordings: [String: StepOutput]
  ) throws(SpoolError) {
    for input in order.inputs {
      guard case .recording(let name, let path) = input.origin else { continue }
      let now: Digest
      now = try exportFolder.digest(ofFile: path)
      guard now != recordings[name]?.identity else { continue }
      throw SpoolError(
        "\(path) changed while it was read",
        advice: "run it again when whatever writes it has finished", cause: .environment)
    }
  }

  /// Throws, before any work, for exports that would replace each other or a recording.
  func checkNames(_ plan: Plan, _ options: Options) throws(PassFailure) {
    let folder = folder(of: plan, options)
    var owners: [String: StepID] = [:]
    for step in plan.steps {
      guard let stage = step.stage as? any PublishingStage else { continue }
      let recordings = names(of: step, plan, options)
      for name in stage.conceivableFileNames(of: step.id, recordings: recordings) {
        let path = folder + "/" + name
        if let owner = owners.updateValue(step.id, forKey: name) {
          throw PassFailure(
            step.id,
            SpoolError(
              "\(path) would be written twice", reason: "the step \(owner) writes it as well",
              advice: "give one of them another name, such as name: \"{stem}.\(step.id)\""))
        }
        if plan.inputs.values.contains(where: { exportFolder.isSameFile($0, path) }) {
          throw PassFailure(
            step.id,
            SpoolError(
              "\(path) is the recording itself", reason: "an export would take its place",
              advice: "choose another folder with \(option: .out)"))
        }
      }
    }
  }

  /// The run's own folder for a plan's files; nil for the output folder.
  func enclosure(of plan: Plan, _ options: Options) -> Enclosure? {
    plan.enclosure { names(of: $0, plan, options) }
  }

  func folder(of plan: Plan, _ options: Options) -> String {
    enclosure(of: plan, options).map { options.folder + "/" + $0.place } ?? options.folder
  }

  func exportFolder(of plan: Plan, _ options: Options) -> any ExportFolder {
    guard let enclosure = enclosure(of: plan, options) else { return exportFolder }
    return EnclosedExportFolder(
      exportFolder, seal: "\(options.folder)/\(enclosure.folder)/\(enclosure.seal)")
  }

  func recordings(of step: BoundStep, _ plan: Plan) -> [String] {
    plan.recordings(of: step.id).compactMap { plan.inputs[$0] }
  }

  /// The recordings' names for a step's exports, in the order of `recordings`.
  func names(of step: BoundStep, _ plan: Plan, _ options: Options) -> [String] {
    let recordings = plan.recordings(of: step.id)
    // An export without a recording is named after its pipeline.
    return recordings.isEmpty
      ? [plan.name] : recordings.compactMap { options.names[$0] ?? plan.inputs[$0] }
  }

  /// The room that the rest needs, and what is free now.
  /// - Parameter held: bytes of unfinished files that the work resumes with.
  func roomNeed(
    _ plan: Plan, _ survey: Survey, _ options: Options, _ publisher: Publisher, held: Int
  ) throws -> RoomNeed {
    let forecast = try Forecast(
      plan, survey: survey, executors: executors, keepsEverything: options.keepsEverything)
    // Only begun work can have published files before its end.
    let early = held > 0 ? publisher.earlyByteCount(survey) : 0
    return RoomNeed(
      folder: options.folder, storeByteCount: max(0, forecast.storeByteCount - held),
      folderByteCount: max(0, forecast.publishedByteCount - early)
        + publisher.missingByteCount(survey),
      storeFreeByteCount: try store.freeByteCount(),
      folderFreeByteCount: try exportFolder.freeByteCount(at: options.folder),
      sharesDisk: exportFolder.sharesDisk(with: options.folder))
  }

  /// Throws, with figures, if the rest of a run cannot fit; only warns if that is overridden.
  func checkRoom(
    _ plan: Plan, _ survey: Survey, _ options: Options, _ publisher: Publisher, held: Int
  ) throws {
    let need = try roomNeed(plan, survey, options, publisher, held: held)
    guard let refusal = need.refusal else { return }
    guard options.ignoresRoom, let step = plan.steps.first?.id else { throw refusal }
    recorder.record(
      .warning(
        step, "\(refusal.message): \(refusal.reason ?? ""); where a disk gets full, the run pauses")
    )
  }

  func failure(_ error: any Error, _ plan: Plan) -> RunError {
    switch error {
    case let failure as PassFailure:
      let step = failure.step.flatMap { plan.step($0) }
      let recording = (failure.step ?? plan.steps.first?.id).flatMap {
        plan.recordings(of: $0).first
      }
      return RunError(
        failure.error, step: failure.step, kind: step?.descriptor.kind,
        recording: recording.flatMap { plan.inputs[$0] })
    case let error as SpoolError: return RunError(error)
    default: return RunError(SpoolError("the run failed", reason: "\(error)"))
    }
  }
}

/// An export folder for files in a folder of their own: created for the first file, and unsealed
/// before any of them changes, so that a seal is never on an incomplete folder.
struct EnclosedExportFolder: ExportFolderLayer {
  let exportFolder: any ExportFolder
  private let seal: String

  /// - Parameter seal: the path of the seal.
  init(_ exportFolder: any ExportFolder, seal: String) {
    self.exportFolder = exportFolder
    self.seal = seal
  }

  func publish(
    _ content: Digest, at path: String, of recording: RecordingIdentity?, isReplacing: Bool,
    write: (_ temporaryPath: String) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Int {
    try exportFolder.makeFolder(Self.folder(of: path))
    if path != seal { try exportFolder.withdraw(seal, isReplacing: isReplacing) }
    return try exportFolder.publish(
      content, at: path, of: recording, isReplacing: isReplacing, write: write)
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }
}

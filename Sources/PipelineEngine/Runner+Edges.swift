import Hashing
import PipelineModel
internal import Threading

/// The edges of a run: the recordings that come in, the room there is, the files that go out, and
/// what is said of a failure.
extension Runner {
  /// The identities of a plan's recordings, whose bytes are read side by side: a session has many
  /// tracks. The first one that cannot be read, in the order of their names, is what is told.
  func identify(_ plan: Plan) throws(StoreError) -> [String: StepOutput] {
    let inputs = plan.inputs.sorted { $0.key < $1.key }
    let pool = WorkerPool(threadCount: min(inputs.count, CoreCount.online), name: "identify")
    let digests = OrderedResults<Result<Digest, StoreError>>(
      pool: pool, limit: max(1, inputs.count))
    for (_, path) in inputs {
      digests.submit { [custody] in
        do throws(StoreError) { return .success(try custody.digest(ofFile: path)) } catch {
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

  /// Makes sure that what was read is what was identified: a recording that somebody is still
  /// writing must not be filed under the digest of an earlier state.
  func checkUnchanged(
    _ order: PassOrder, _ recordings: [String: StepOutput]
  ) throws(StageError) {
    for input in order.inputs {
      guard case .recording(let name, let path) = input.origin else { continue }
      let now: Digest
      do throws(StoreError) { now = try custody.digest(ofFile: path) } catch {
        throw StageError(error)
      }
      guard now != recordings[name]?.identity else { continue }
      throw StageError(
        "\(path) changed while it was read",
        advice: "run it again when whatever writes it has finished", cause: .environment)
    }
  }

  /// Refuses, before any work, exports that would take each other's place or a recording's.
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
            StageError(
              "\(path) would be written twice", reason: "the step \(owner) writes it as well",
              advice: "give one of them another name, such as name: \"{stem}.\(step.id)\""))
        }
        if plan.inputs.values.contains(where: { custody.isSameFile($0, path) }) {
          throw PassFailure(
            step.id,
            StageError(
              "\(path) is the recording itself", reason: "an export would take its place",
              advice: "choose another folder with --out"))
        }
      }
    }
  }

  /// The folder of its own that a plan's files go into; nil for the output folder.
  func enclosure(of plan: Plan, _ options: Options) -> Enclosure? {
    plan.enclosure { names(of: $0, plan, options) }
  }

  /// Where a plan's files go.
  func folder(of plan: Plan, _ options: Options) -> String {
    enclosure(of: plan, options).map { options.folder + "/" + $0.place } ?? options.folder
  }

  /// How a plan's files get there.
  func custody(of plan: Plan, _ options: Options) -> any FileCustody {
    guard let enclosure = enclosure(of: plan, options) else { return custody }
    return EnclosedCustody(
      custody, seal: "\(options.folder)/\(enclosure.folder)/\(enclosure.seal)")
  }

  func recordings(of step: BoundStep, _ plan: Plan) -> [String] {
    plan.recordings(of: step.id).compactMap { plan.inputs[$0] }
  }

  /// What exports call the recordings of a step, in the order of `recordings`.
  func names(of step: BoundStep, _ plan: Plan, _ options: Options) -> [String] {
    let recordings = plan.recordings(of: step.id)
    // What comes of no recording is called as its pipeline is.
    return recordings.isEmpty
      ? [plan.name] : recordings.compactMap { options.names[$0] ?? plan.inputs[$0] }
  }

  /// What is left to write and what is free, as things stand.
  /// - Parameter held: bytes of unfinished files that the work goes on with.
  func roomNeed(
    _ plan: Plan, _ survey: Survey, _ options: Options, _ publisher: Publisher, held: Int
  ) throws -> RoomNeed {
    let forecast = try Forecast(
      plan, survey: survey, executors: executors, keepsEverything: options.keepsEverything)
    // Only work that was begun can have handed over files before its end.
    let early = held > 0 ? publisher.earlyByteCount(survey) : 0
    return RoomNeed(
      folder: options.folder, storeByteCount: max(0, forecast.storeByteCount - held),
      folderByteCount: max(0, forecast.publishedByteCount - early)
        + publisher.missingByteCount(survey),
      storeFreeByteCount: try store.freeByteCount(),
      folderFreeByteCount: try custody.freeByteCount(at: options.folder),
      sharesDisk: custody.sharesDisk(with: options.folder))
  }

  /// Refuses, with figures, a run that cannot fit beside what there is of it already; warns of it where
  /// it is to begin nevertheless.
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
    case let error as StageError: return RunError(error)
    case let error as StoreError: return RunError(StageError(error))
    default: return RunError(StageError("the run failed", reason: "\(error)"))
    }
  }
}

import Hashing
import PipelineModel

/// The edges of a run: the recordings that come in, the room there is, the files that go out, and
/// what is said of a failure.
extension Runner {
  func identify(_ plan: Plan) throws(StoreError) -> [String: StepOutput] {
    var recordings: [String: StepOutput] = [:]
    for (name, path) in plan.inputs {
      recordings[name] = StepOutput(
        kind: plan.inputKinds[name] ?? .file, identity: try custody.digest(ofFile: path))
    }
    return recordings
  }

  /// Makes sure that what was read is what was identified: a recording that somebody is still
  /// writing must not be filed under the digest of an earlier state.
  func checkUnchanged(
    _ order: PassOrder, _ plan: Plan, _ recordings: [String: StepOutput]
  ) throws(StageError) {
    guard case .recording(let path) = order.start else { return }
    let before = recording(of: order, plan, recordings)?.identity
    let now: Digest
    do throws(StoreError) { now = try custody.digest(ofFile: path) } catch {
      throw StageError(error)
    }
    guard now != before else { return }
    throw StageError(
      "\(path) changed while it was read",
      advice: "run it again when whatever writes it has finished", cause: .environment)
  }

  /// The recording that a pass begins with; nil where it begins with kept sound.
  func recording(
    of order: PassOrder, _ plan: Plan, _ recordings: [String: StepOutput]
  ) -> StepOutput? {
    guard case .recording(let path) = order.start else { return nil }
    return plan.inputs.first { $0.value == path }.flatMap { recordings[$0.key] }
  }

  /// Refuses, before any work, exports that would take each other's place or a recording's.
  func checkNames(_ plan: Plan, _ options: Options) throws(PassFailure) {
    var owners: [String: StepID] = [:]
    for step in plan.steps {
      guard let stage = step.stage as? any PublishingStage else { continue }
      for name in stage.fileNames(of: step.id, recordings: names(of: step, plan, options)) {
        let path = options.folder + "/" + name
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

  /// Refuses, with figures, a run that cannot fit beside what there is of it already.
  func checkRoom(
    _ plan: Plan, _ survey: Survey, _ options: Options, _ claim: any WorkClaim
  ) throws {
    let forecast = try Forecast(
      plan, survey: survey, executors: executors, keepsEverything: options.keepsEverything)
    let storeFree = try store.freeByteCount()
    let folderFree = try custody.freeByteCount(at: options.folder)
    let isShared = custody.sharesDisk(with: options.folder)
    let missing = max(0, forecast.storeByteCount - claim.heldByteCount)
    let rooms = [
      ("the store", missing + (isShared ? forecast.publishedByteCount : 0), storeFree),
      (options.folder, forecast.publishedByteCount, folderFree),
    ]
    for (place, needed, free) in rooms where needed > free {
      throw StageError(
        "there is not enough room in \(place)",
        reason: "the run needs about \(ByteCount(needed)), and \(ByteCount(free)) are free",
        advice: "free some space, or choose another place with --store or --out",
        cause: .environment)
    }
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

import PipelineModel
import Synchronization

/// Puts a run's files into the user's folder: each as soon as it is sealed, while the pass goes on
/// with others, and at the end whatever is still missing.
final class Publisher: Sendable {
  private let runner: Runner
  private let plan: Plan
  private let options: Runner.Options
  private let recordings: [String: StepOutput]
  /// Where the files go.
  private let folder: String
  private let custody: any FileCustody
  private let early = Mutex<[String: PublishedFile]>([:])
  /// What the user was warned of: once, of however many files it is said.
  private let told = Mutex<[StepID: Set<String>]>([:])
  /// What the steps had given that were done when the work in hand began.
  private let finished = Mutex<[StepID: [PortName: StepOutput]]>([:])

  /// - Parameter recordings: the identities of the plan's inputs.
  init(
    _ runner: Runner, _ plan: Plan, _ options: Runner.Options, _ recordings: [String: StepOutput]
  ) {
    self.recordings = recordings
    self.runner = runner
    self.plan = plan
    self.options = options
    folder = runner.folder(of: plan, options)
    custody = runner.custody(of: plan, options)
  }

  /// Lets stages that are still to work read what they need of the recordings.
  func prepare(_ survey: Survey) {
    finished.withLock { $0 = outputs(survey) }
    let status = survey.status
    for step in plan.steps where status[step.id] == .pending {
      (step.stage as? any PublishingStage)?
        .preparePublishing(of: runner.recordings(of: step, plan))
    }
  }

  /// Publishes one artifact of a step that is not done yet, if it can: what goes wrong is left for
  /// the end, when the work itself is safe.
  func publish(_ artifact: Artifact, at port: PortName, of id: StepID) {
    guard options.mayGoOn == nil, !runner.stop.isRequested, let step = plan.step(id),
      let stage = step.stage as? any PublishingStage,
      let files = try? stage.publish(
        context(
          step, outputs: [port: StepOutput(artifact)], finished: finished.withLock { $0 }))
    else { return }
    for file in files { early.withLock { $0[file.path] = file } }
  }

  /// Refuses, before the work, exports that would take the place of those of another recording.
  /// What is done already may well be the same file, and is looked at when it is published.
  func checkOwners(_ status: [StepID: PassPlanner.Status]) throws(PassFailure) {
    guard !options.isReplacing else { return }
    for step in plan.steps where status[step.id] == .pending {
      guard let stage = step.stage as? any PublishingStage, let own = recording(of: step) else {
        continue
      }
      for name in stage.fileNames(of: step.id, recordings: runner.names(of: step, plan, options)) {
        let path = folder + "/" + name
        guard let other = try? custody.recording(ofPublished: path),
          !own.isSameRecording(as: other), !custody.isSameFile(own.path, other.path)
        else { continue }
        throw PassFailure(step.id, StageError(path, holds: other, not: own))
      }
    }
  }

  /// Publishes everything, which for most files means to see that they are there.
  func publishAll(_ progress: inout RunProgress) throws(PassFailure) {
    let finished = Dictionary(
      plan.steps.map { ($0.id, progress.outputs(of: $0.id)) },
      uniquingKeysWith: { first, _ in first })
    for step in plan.steps {
      guard let stage = step.stage as? any PublishingStage else { continue }
      do throws(StageError) {
        try runner.stop.check()
        let outputs = progress.outputs(of: step.id)
        let context = context(step, outputs: outputs, finished: finished) {
          self.warn(step.id, $0)
        }
        for file in try stage.publish(context) {
          let news = early.withLock { $0[file.path] } ?? file
          progress.record.published.append(news)
          runner.recorder.record(.published(news))
        }
      } catch {
        throw PassFailure(step.id, error)
      }
    }
  }

  private func warn(_ step: StepID, _ text: String) {
    let isNews = told.withLock { $0[step, default: []].insert(text).inserted }
    if isNews { runner.recorder.record(.warning(step, text)) }
  }

  /// Bytes of the exports that are whole in the store and have yet to go into the user's folder.
  func missingByteCount(_ survey: Survey) -> Int {
    let rehearsal = RehearsedCustody(custody)
    let finished = outputs(survey)
    var count = 0
    for step in plan.steps {
      guard let stage = step.stage as? any PublishingStage else { continue }
      for (port, output) in survey.checkpoint(of: step.id)?.outputs ?? [:] {
        guard let artifact = output.artifact else { continue }
        // What cannot be published says so when its turn comes.
        let context = context(
          step, outputs: [port: output], finished: finished, custody: rehearsal)
        let files = (try? stage.publish(context)) ?? []
        count += files.filter { !$0.wasThere }.count * artifact.byteCount
      }
    }
    return count
  }

  /// Bytes of files in the user's folder that steps which are not done have published already, of
  /// those that earlier processes and this one began.
  func earlyByteCount(_ survey: Survey) -> Int {
    var count = 0
    for step in plan.steps where survey.checkpoint(of: step.id) == nil {
      guard let stage = step.stage as? any PublishingStage, let own = recording(of: step) else {
        continue
      }
      for name in stage.fileNames(of: step.id, recordings: runner.names(of: step, plan, options)) {
        let path = folder + "/" + name
        guard let source = try? custody.recording(ofPublished: path),
          own.isSameRecording(as: source)
        else { continue }
        count += custody.byteCount(ofPublished: path) ?? 0
      }
    }
    return count
  }

  private func context(
    _ step: BoundStep, outputs: [PortName: StepOutput],
    finished: [StepID: [PortName: StepOutput]], custody: (any FileCustody)? = nil,
    warn: @escaping @Sendable (String) -> Void = { _ in }
  ) -> PublishingContext {
    PublishingContext(
      step: step.id, outputs: outputs, recordings: runner.recordings(of: step, plan),
      names: runner.names(of: step, plan, options), recording: recording(of: step),
      folder: folder, isReplacing: options.isReplacing,
      isDigestWanted: runner.writesReceipts(of: plan, options),
      store: runner.store, custody: custody ?? self.custody,
      lineage: Lineage(plan, finished: finished), warn: warn)
  }

  private func outputs(_ survey: Survey) -> [StepID: [PortName: StepOutput]] {
    Dictionary(
      plan.steps.compactMap { step in
        survey.checkpoint(of: step.id).map { (step.id, $0.outputs) }
      }, uniquingKeysWith: { first, _ in first })
  }

  private func recording(of step: BoundStep) -> RecordingIdentity? {
    guard let name = plan.recordings(of: step.id).first, let path = plan.inputs[name],
      let digest = recordings[name]?.identity
    else { return nil }
    return RecordingIdentity(path: path, digest: digest)
  }
}

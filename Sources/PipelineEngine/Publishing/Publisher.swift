import PipelineModel
import Platform
import Synchronization

/// Publishes a run's files to the user's folder: each as soon as it is sealed, and at the end all
/// that are missing.
final class Publisher: Sendable {
  private let runner: Runner
  private let plan: Plan
  private let options: Runner.Options
  private let recordings: [String: StepOutput]
  private let folder: String
  private let exportFolder: any ExportFolder
  private let early = Mutex<[String: PublishedFile]>([:])
  /// Warnings already given: each is reported once, for any number of files.
  private let told = Mutex<[StepID: Set<String>]>([:])
  /// The outputs of the steps that were done when the current work began.
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
    exportFolder = runner.exportFolder(of: plan, options)
  }

  /// Gives running stages the outputs that they need for names.
  func prepare(_ survey: Survey) {
    finished.withLock { $0 = outputs(survey) }
    let status = survey.status
    for step in plan.steps where status[step.id] == .pending {
      (step.stage as? any PublishingStage)?
        .preparePublishing(of: runner.recordings(of: step, plan))
    }
  }

  /// Publishes one artifact of a running step if possible; a failure is reported at the end, when
  /// the work itself is safe.
  func publish(_ artifact: Artifact, at port: PortName, of id: StepID) {
    guard options.mayGoOn == nil, !runner.stop.isRequested, let step = plan.step(id),
      let stage = step.stage as? any PublishingStage,
      let files = try? stage.publish(
        context(
          step, outputs: [port: StepOutput(artifact)], finished: finished.withLock { $0 }))
    else { return }
    for file in files { early.withLock { $0[file.path] = file } }
  }

  /// Throws, before the work, for exports that would replace another recording's. Exports of
  /// finished steps may be the same files, and are checked when they are published.
  func checkOwners(_ status: [StepID: PassPlanner.Status]) throws(PassFailure) {
    guard !options.isReplacing else { return }
    for step in plan.steps where status[step.id] == .pending {
      guard let stage = step.stage as? any PublishingStage, let own = recording(of: step) else {
        continue
      }
      for name in stage.fileNames(of: step.id, recordings: runner.names(of: step, plan, options)) {
        let path = folder + "/" + name
        guard let other = try? exportFolder.recording(ofPublished: path),
          !own.isSameRecording(as: other), !exportFolder.isSameFile(own.path, other.path)
        else { continue }
        throw PassFailure(step.id, SpoolError(path, holds: other, not: own))
      }
    }
  }

  /// Publishes everything; most files are already there.
  func publishAll(_ progress: inout RunProgress) throws(PassFailure) {
    let finished = Dictionary(
      plan.steps.map { ($0.id, progress.outputs(of: $0.id)) },
      uniquingKeysWith: { first, _ in first })
    for step in plan.steps {
      guard let stage = step.stage as? any PublishingStage else { continue }
      do throws(SpoolError) {
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

  /// Bytes of the exports that are complete in the store and not yet published.
  func missingByteCount(_ survey: Survey) -> Int {
    let rehearsal = DryRunExportFolder(exportFolder)
    let finished = outputs(survey)
    var count = 0
    for step in plan.steps {
      guard let stage = step.stage as? any PublishingStage else { continue }
      for (port, output) in survey.checkpoint(of: step.id)?.outputs ?? [:] {
        guard let artifact = output.artifact else { continue }
        // What cannot be published fails later, with the reason.
        let context = context(
          step, outputs: [port: output], finished: finished, exportFolder: rehearsal)
        let files = (try? stage.publish(context)) ?? []
        count += files.filter { !$0.wasThere }.count * artifact.byteCount
      }
    }
    return count
  }

  /// Bytes of files that unfinished steps have already published, in this process or an earlier
  /// one.
  func earlyByteCount(_ survey: Survey) -> Int {
    var count = 0
    for step in plan.steps where survey.checkpoint(of: step.id) == nil {
      guard let stage = step.stage as? any PublishingStage, let own = recording(of: step) else {
        continue
      }
      for name in stage.fileNames(of: step.id, recordings: runner.names(of: step, plan, options)) {
        let path = folder + "/" + name
        guard let source = try? exportFolder.recording(ofPublished: path),
          own.isSameRecording(as: source)
        else { continue }
        count += exportFolder.byteCount(ofPublished: path) ?? 0
      }
    }
    return count
  }

  private func context(
    _ step: BoundStep, outputs: [PortName: StepOutput],
    finished: [StepID: [PortName: StepOutput]], exportFolder: (any ExportFolder)? = nil,
    warn: @escaping @Sendable (String) -> Void = { _ in }
  ) -> PublishingContext {
    PublishingContext(
      step: step.id, outputs: outputs, recordings: runner.recordings(of: step, plan),
      names: runner.names(of: step, plan, options), recording: recording(of: step),
      folder: folder, isReplacing: options.isReplacing,
      isDigestWanted: runner.writesReceipts(of: plan, options),
      store: runner.store, exportFolder: exportFolder ?? self.exportFolder,
      upstream: UpstreamOutputs(plan, finished: finished), warn: warn)
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

/// An export folder for forecasts: it reads, and writes nothing.
struct DryRunExportFolder: ExportFolderLayer {
  let exportFolder: any ExportFolder

  init(_ exportFolder: any ExportFolder) { self.exportFolder = exportFolder }

  func publish(
    _ content: Digest, at path: String, of recording: RecordingIdentity?, isReplacing: Bool,
    write: (_ temporaryPath: String) throws(SpoolError) -> Void
  ) -> Int { 0 }

  func makeFolder(_ path: String) {}

  func withdraw(_ path: String, isReplacing: Bool) {}

  func copyFile(from source: String, to destination: String) {}
}

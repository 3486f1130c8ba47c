package import PipelineModel
import Platform
import Synchronization

/// Publishes a run's files to the user's folder: each as soon as it is sealed, and at the end all
/// that are missing.
extension Execution {
  /// What running stages share with the publishing of their files, from any thread.
  final class EarlyExports: Sendable {
    /// The files published before the end of the work, by path.
    let files = Mutex<[String: PublishedFile]>([:])
    /// The SHA-256 of the files that were overwritten, by path, where a receipt says so.
    let replaced = Mutex<[String: Digest]>([:])
    /// The paths at which a file took the place of another.
    let overwritten = Mutex<Set<String>>([])
    /// Warnings already given: each is reported once, for any number of files.
    let warnings = Mutex<[StepID: Set<String>]>([:])
    /// The outputs of the steps that were done when the current work began.
    let finished = Mutex<[StepID: [PortName: StepOutput]]>([:])
    /// The identities of the sound inputs' samples, by input, as far as they are known.
    let samples = Mutex<[String: Digest]>([:])
    /// The files that an earlier receipt covers, and which are as it says.
    let signed = Mutex<Set<String>>([])
    /// The paths that are published first, and nothing before the end of the work: what is there
    /// stays unless it has the same bytes, and then nothing else may have been replaced.
    let doubtful = Mutex<Set<String>>([])
    /// The recordings of the exports whose places are free for this run, by path.
    let companions = Mutex<[String: RecordingIdentity?]>([:])
    /// The paths where this run put a file and there was none.
    let placed = Mutex<Set<String>>([])
  }

  /// Gives running stages the outputs that they need for names.
  func preparePublishing(_ survey: Survey) {
    exports.finished.withLock { $0 = outputs(survey) }
    let status = survey.status
    for step in plan.steps where status[step.id] == .pending {
      (step.stage as? any PublishingStage)?
        .preparePublishing(of: inputFiles(of: step))
    }
  }

  /// Publishes one artifact of a running step if possible; a failure is reported at the end, when
  /// the work itself is safe. Where a stage may fail the run, all files wait for its verdict.
  func publish(_ artifact: Artifact, at port: PortName, of id: StepID) {
    guard options.mayGoOn == nil, exports.doubtful.withLock(\.isEmpty),
      !plan.steps.contains(where: { ($0.stage as? any JudgingStage)?.canFail == true }),
      !runner.stop.isRequested, let step = plan.step(id),
      let stage = step.stage as? any PublishingStage,
      let files = try? stage.publish(
        context(
          step, outputs: [port: StepOutput(artifact)], finished: exports.finished.withLock { $0 }))
    else { return }
    for file in files { exports.files.withLock { $0[file.path] = file } }
  }

  /// Publishes everything; most files are already there. A run to which another one leaves not all of
  /// its places takes back the files that it has put there.
  func publishAll(_ progress: inout RunProgress) throws(PassFailure) {
    let finished = Dictionary(
      plan.steps.map { ($0.id, progress.outputs(of: $0.id)) },
      uniquingKeysWith: { first, _ in first })
    noteSamples(finished)
    var files: [PublishedFile] = []
    defer { exports.companions.withLock { $0 = [:] } }
    do throws(PassFailure) {
      // Each further attempt finds another place taken. The first takes those that were free just now.
      var attempts = plan.exportPaths(options.names).count
      while try !publishEach(into: &files, finished, isLast: attempts <= 0) {
        attempts -= 1
        try takePlaces(progress.record)
      }
    } catch {
      var failure = error
      if error.error.kind == .occupied {
        takeBack(&files)
        failure = PassFailure(error.step, error.error.noting(isAsItWas))
      }
      report(files, &progress)
      throw failure
    }
    report(files, &progress)
    do throws(SpoolError) {
      let sounds = exportFolder.sounds
      if !sounds.isEmpty {
        try exportFolder.attribute(progress.record.published.map(\.path), to: sounds)
      }
    } catch {
      throw PassFailure(nil, error)
    }
  }

  /// Looks at the places again.
  private func takePlaces(_ record: RunRecord) throws(PassFailure) {
    let survey: Survey
    do throws(SpoolError) { survey = try self.survey() } catch { throw PassFailure(nil, error) }
    try takePlaces(survey, record)
  }

  private func report(_ files: [PublishedFile], _ progress: inout RunProgress) {
    for file in files {
      progress.record.published.append(file)
      recorder.record(.published(file))
    }
  }

  /// Reports the files that the steps of a run that does not come to its end have published.
  func reportEarly(_ progress: inout RunProgress) {
    let known = Set(progress.record.published.map(\.path))
    let early = exports.files.withLock { $0.values.filter { !$0.wasThere } }
    report(
      early.filter { !known.contains($0.path) }.sorted { $0.path < $1.path }, &progress)
  }

  /// One attempt to publish everything.
  /// - Parameter isLast: whether to throw as well if a place was taken meanwhile.
  /// - Returns: whether everything is published; false if a place was taken meanwhile.
  private func publishEach(
    into files: inout [PublishedFile], _ finished: [StepID: [PortName: StepOutput]], isLast: Bool
  ) throws(PassFailure) -> Bool {
    files = []
    try publishDoubtful(finished)
    for step in plan.steps {
      guard let stage = step.stage as? any PublishingStage else { continue }
      do throws(SpoolError) {
        try runner.stop.check()
        // Tags and markers come from the recording.
        try checkTagged(step)
        let context = context(step, outputs: finished[step.id] ?? [:], finished: finished) {
          warn(step.id, $0)
        }
        var isNew = false
        for file in try stage.publish(context) {
          let news = exports.files.withLock { early in
            if let news = early[file.path] { return news }
            if !file.wasThere { early[file.path] = file }
            return file
          }
          files.append(news)
          isNew = isNew || !news.wasThere
        }
        // Said once, when the files are written, and not again by every run that finds them there.
        if isNew { corrections.warnings(of: step.id).forEach { warn(step.id, $0) } }
        warnOfOtherName(step, stage)
        try checkTagged(step)
      } catch {
        if error.kind == .occupied, !isLast { return false }
        throw PassFailure(step.id, error)
      }
    }
    return true
  }

  /// Takes away the files that this run has put where there was none.
  /// - Parameter files: gets those that stay.
  private func takeBack(_ files: inout [PublishedFile]) {
    for path in exports.placed.withLock({ $0 }) {
      guard (try? exportFolder.withdraw(path, isReplacing: false)) != nil else { continue }
      exports.files.withLock { $0[path] = nil }
    }
    files = exports.files.withLock { $0.values.filter { !$0.wasThere } }
      .sorted { $0.path < $1.path }
  }

  /// Throws if a recording that a step's exports have tags of is another one by now. One that is
  /// gone gives none.
  private func checkTagged(_ step: BoundStep) throws(SpoolError) {
    try files.of(inputFiles(of: step).filter { FilePath.exists($0.path) }).check()
  }

  /// Publishes what may be refused, before anything else is replaced.
  private func publishDoubtful(
    _ finished: [StepID: [PortName: StepOutput]]
  ) throws(PassFailure) {
    let doubtful = exports.doubtful.withLock { $0 }
    if doubtful.isEmpty { return }
    var folder = exportFolder
    folder.only = doubtful
    for step in plan.steps {
      guard let stage = step.stage as? any PublishingStage else { continue }
      do throws(SpoolError) {
        _ = try stage.publish(
          context(
            step, outputs: finished[step.id] ?? [:], finished: finished, exportFolder: folder))
      } catch {
        throw PassFailure(step.id, error)
      }
    }
  }

  /// Warns where exports that are named after a recording cannot be called as it is.
  private func warnOfOtherName(_ step: BoundStep, _ stage: any PublishingStage) {
    let names = names(of: step)
    let plain = ExportName.plainStem(of: names.first)
    let safe = ExportName.safe(plain)
    guard !plain.isEmpty, plain != safe,
      stage.fileNames(of: step.id, recordings: names).contains(where: { $0.contains(safe) })
    else { return }
    warn(
      step.id,
      "the exports of \(plain) are called \(safe): a name that begins with . or -, has \\, control "
        + "characters or spaces at its ends, or is too long, does harm elsewhere")
  }

  /// Warns of receipts that cover other bytes than those of exports that took the place of others.
  func warnOfBrokenReceipts(_ progress: RunProgress) {
    guard let writer = runner.receiptWriter else { return }
    let overwritten = exports.overwritten.withLock { $0 }
    for file in progress.record.published where overwritten.contains(file.path) {
      let digest = try? exportFolder.digest(ofFile: file.path)
      for text in writer.warnings(ofReplaced: file.path, digest: digest) { warn(file.step, text) }
    }
  }

  private func warn(_ step: StepID, _ text: String) {
    let isNews = exports.warnings.withLock { $0[step, default: []].insert(text).inserted }
    if isNews { recorder.record(.warning(step, text)) }
  }

  /// Bytes of the exports that are complete in the store and not yet published.
  func unpublishedByteCount(_ survey: Survey) -> Int {
    unpublished(survey).reduce(0) { $0 + $1.byteCount }
  }

  /// The exports that are complete in the store and not yet published, with the lengths of their
  /// artifacts.
  func unpublished(_ survey: Survey) -> [(path: String, byteCount: Int)] {
    var rehearsal = exportFolder
    rehearsal.only = []
    let finished = outputs(survey)
    var found: [(path: String, byteCount: Int)] = []
    for step in plan.steps {
      guard let stage = step.stage as? any PublishingStage else { continue }
      for (port, output) in survey.checkpoint(of: step.id)?.outputs ?? [:] {
        guard let artifact = output.artifact else { continue }
        // What cannot be published fails later, with the reason.
        let context = context(
          step, outputs: [port: output], finished: finished, exportFolder: rehearsal)
        let files = (try? stage.publish(context)) ?? []
        found += files.filter { !$0.wasThere }.map { ($0.path, artifact.byteCount) }
      }
    }
    return found
  }

  /// Bytes of files that unfinished steps have already published, in this process or an earlier
  /// one.
  func earlyByteCount(_ survey: Survey) -> Int {
    var count = 0
    for step in plan.steps where survey.checkpoint(of: step.id) == nil {
      guard let stage = step.stage as? any PublishingStage, let own = recording(of: step.id) else {
        continue
      }
      for name in stage.fileNames(of: step.id, recordings: names(of: step)) {
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
    finished: [StepID: [PortName: StepOutput]], exportFolder: RunExportFolder? = nil,
    warn: @escaping @Sendable (String) -> Void = { _ in }
  ) -> PublishingContext {
    PublishingContext(
      step: step.id, outputs: outputs, recordings: inputFiles(of: step),
      names: names(of: step), recording: recording(of: step.id),
      chapters: options.chapters, titles: options.titles,
      folder: folder, isReplacing: options.isReplacing,
      store: store,
      exportFolder: (exportFolder ?? self.exportFolder).of(step, namesake: namesake(of: step)),
      upstream: UpstreamOutputs(plan, finished: finished), warn: warn)
  }

  func outputs(_ survey: Survey) -> [StepID: [PortName: StepOutput]] {
    Dictionary(
      plan.steps.compactMap { step in
        survey.checkpoint(of: step.id).map { (step.id, $0.outputs) }
      }, uniquingKeysWith: { first, _ in first })
  }
}

extension Plan {
  /// The names for a step's exports, in the order of its recordings.
  /// - Parameter names: the recordings' names, by input; without one, the file's counts.
  package func exportNames(of step: BoundStep, _ names: [String: String]) -> [String] {
    let recordings = recordings(of: step.id)
    // An export without a recording is named after its pipeline.
    return recordings.isEmpty ? [name] : recordings.compactMap { names[$0] ?? inputs[$0] }
  }

  /// The paths of a run's exports below its output folder, as far as they are known before it.
  /// - Parameter names: as for `exportNames`.
  package func exportPaths(_ names: [String: String]) -> [String] {
    let place = enclosure { exportNames(of: $0, names) }.map { $0.place + "/" } ?? ""
    return steps.flatMap { step in
      ((step.stage as? any PublishingStage)?
        .fileNames(of: step.id, recordings: exportNames(of: step, names)) ?? []).map { place + $0 }
    }
  }
}

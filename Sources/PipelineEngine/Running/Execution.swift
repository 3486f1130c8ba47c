package import PipelineModel
package import Platform
import Synchronization

/// One run of a plan by a runner: what all of its work shares.
struct Execution: Sendable {
  let runner: Runner
  let plan: Plan
  var options: Runner.Options
  /// The identities of the plan's inputs; empty until they are read.
  private(set) var recordings: [String: StepOutput] = [:]
  /// The plan's input files as they were identified; none until they are read.
  private(set) var files = IdentifiedFiles([:])
  /// The run's own folder for its files; nil for the output folder.
  let enclosure: ReceiptRequest.Enclosure?
  /// The folder of the run's files.
  let folder: String
  private(set) var exportFolder: RunExportFolder
  let exports: EarlyExports
  let corrections = Corrections()

  var store: any ArtifactStore { runner.store }
  var recorder: any RunRecorder { runner.recorder }
  var clock: any RunClock { runner.clock }

  init(_ plan: Plan, _ options: Runner.Options, on runner: Runner) {
    self.runner = runner
    self.plan = plan
    self.options = options
    enclosure = plan.enclosure { plan.exportNames(of: $0, options.names) }
    folder = enclosure.map { options.folder + "/" + $0.place } ?? options.folder
    let exports = EarlyExports()
    self.exports = exports
    exportFolder = RunExportFolder(
      base: runner.exportFolder, pipeline: plan.name, exports: exports,
      seal: enclosure.map { "\(options.folder)/\($0.folder)/\($0.seal)" })
    if options.makesFolder, !FilePath.exists(options.folder) {
      exportFolder.missingFolder = options.folder
    }
    exportFolder.receipts = Set(
      receiptNames.flatMap(\.fileNames).map { [folder] in "\(folder)/\($0)" })
  }

  /// Reads the identities of the plan's recordings.
  mutating func identify() throws(SpoolError) {
    (recordings, files) = try readRecordings()
    for (name, output) in recordings where plan.inputKinds[name] == .sound {
      guard let path = plan.inputs[name] else { continue }
      exportFolder.inputs[name] = RecordingIdentity(path: path, digest: output.identity)
    }
  }

  /// - Parameter history: earlier runs, for a forecast: what they had of a step that is to be done
  ///   again tells the keys of those below it. The work itself finds that out.
  func survey(remembering history: [RunRecord] = []) throws(SpoolError) -> Survey {
    let remembered = history.flatMap(\.steps).compactMap { step in
      step.key.map { ($0, step.outputs.mapValues { $0.unkept }) }
    }
    return try Survey(
      plan, recordings: recordings, store: store,
      remembered: Dictionary(remembered, uniquingKeysWith: { newest, _ in newest }),
      corrected: corrected)
  }

  /// The loop: survey, plan the next piece, do it, commit, again.
  /// - Parameter first: what was surveyed just now.
  func work(_ progress: inout RunProgress, from first: Survey) throws {
    var first = Optional(first)
    let planner = PassPlanner(
      plan, keepsEverything: options.keepsEverything, needed: options.neededStep)
    var identified: Set<StepID> = []
    var judged: Set<StepID> = []
    while true {
      let survey = try first.take() ?? self.survey()
      let reused = progress.takeReused(survey, of: plan, store: store)
      for (id, checkpoint) in reused {
        recorder.record(.reused(id, kind: checkpoint.components.kind))
      }
      // The run's inputs must not be collected if it is interrupted.
      if !reused.isEmpty { try runner.log.save(progress.record) }
      try options.mayGoOn?(progress.record)
      try judge(progress, &judged)
      guard let work = planner.next(survey.status) else {
        // Nothing to compute: only publishing is left.
        try checkPlaces(survey, progress.record)
        if progress.isFirstWork { try checkRoom(survey, held: 0) }
        return
      }
      let isDoneHere: Bool
      switch work {
      case .whole(let id):
        isDoneHere = try unlessTakenOver([id]) { try runWhole(id, survey, &progress) }
      case .pass(var outline):
        if let alone = try sourceToIdentify(outline, survey, identified) {
          identified.insert(alone)
          if case .pass(let short) = planner.next(survey.status, sourcesAlone: [alone]) {
            outline = short
          }
        } else {
          try checkPlaces(survey, progress.record)
          preparePublishing(survey)
        }
        let steps = outline.path + outline.listeners.map(\.step)
        isDoneHere = try unlessTakenOver(steps.filter { survey.status[$0] == .pending }) {
          try runPass(outline, survey, &progress)
        }
      }
      if isDoneHere { try runner.log.save(progress.record) }
      if progress.estimate?.drop(whatIsDoneIn: progress.record) == true {
        progress.estimate.map { recorder.record(.estimated($0)) }
      }
    }
  }

  /// The pending source at this pass's start, if the store knows content like it: it is identified
  /// alone first, since everything below may exist already.
  private func sourceToIdentify(
    _ outline: PassPlanner.Outline, _ survey: Survey, _ identified: Set<StepID>
  ) throws -> StepID? {
    guard let id = outline.path.first, let step = plan.step(id), !identified.contains(id),
      case .streaming(let family, .source) = step.descriptor.flow,
      survey.checkpoint(of: id) == nil, outline.path.count + outline.listeners.count > 1
    else { return nil }
    return try isLikeKnown(step, family, survey) ? id : nil
  }

  /// Seconds between two checks of another process's work.
  private static let patience = 0.2

  /// Does a piece of work. If another process took it over while this one was stopped, the run uses
  /// that one's results.
  /// - Returns: the result of `work`; false if it was taken over.
  func unlessTakenOver(_ steps: [StepID], _ work: () throws -> Bool) throws -> Bool {
    do {
      return try work()
    } catch {
      guard failure(error).error.cause == .takenOver else { throw error }
      if let step = steps.first {
        recorder.record(
          .warning(
            step,
            "another process took this over while this one was stopped; what that does is reused"))
      }
      return false
    }
  }

  /// Claims a piece of work, waiting while another process does it.
  func claim(_ work: Digest, _ summary: String) throws -> any WorkClaim {
    var wait = WaitNotice()
    while true {
      switch try store.claim(work, summary: summary) {
      case .granted(let claim): return claim
      case .taken(let owner):
        if let owner = wait.take(owner) {
          recorder.record(
            .waiting(processNumber: owner.processNumber, isStopped: owner.isStopped))
        }
        clock.sleep(Self.patience, unless: runner.stop)
        try runner.stop.check()
      }
    }
  }
}

extension WorkClaim {
  /// Does the work, and then disposes of its unfinished files: they are deleted when it is done or
  /// impossible, or was made from a file that changed, and stay for resumption after a failure of
  /// the surroundings or a stop.
  func settled<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      let result = try work()
      end()
      return result
    } catch let failure as PassFailure
      where failure.error.cause == .input || failure.error.kind == .changed
    {
      end()
      throw failure
    } catch {
      if heldByteCount > 0 { release() } else { end() }
      throw error
    }
  }
}

extension Survey {
  /// Whether these steps are still undone since the survey.
  func isCurrent(_ steps: [StepID], in store: any ArtifactStore) throws(SpoolError) -> Bool {
    for id in steps {
      guard case .pending(let components) = findings[id] else { continue }
      if try store.checkpoint(for: components.key) != nil { return false }
    }
    return true
  }
}

/// The waits for other processes to report: each owner once. A pure value.
///
/// A process that has just claimed work holds its lock before its name is written. So an owner
/// without a name is reported only if the next check does not show one.
struct WaitNotice {
  private var last: WorkOwner?
  private var isUnnamed = false

  /// Records the owner of the work, and returns the owner to report, if any.
  mutating func take(_ owner: WorkOwner) -> WorkOwner? {
    guard owner.processNumber > 0 || isUnnamed else {
      isUnnamed = true
      return nil
    }
    isUnnamed = owner.processNumber <= 0
    // The same wait continues if only its name is missing for once.
    if isUnnamed, last != nil { return nil }
    guard owner != last else { return nil }
    last = owner
    return owner
  }
}

/// A run's view of the user's folder. What folders are missing are created for the first file. The run's
/// own folder, if it has one, is unsealed before any file in it changes, so that a seal is never on an
/// incomplete folder.
struct RunExportFolder: ExportFolder {
  let base: any ExportFolder
  let pipeline: String
  let exports: Execution.EarlyExports
  /// The paths of the run's receipts and their companions.
  var receipts: Set<String> = []
  /// The path of the seal of the run's own folder; nil for the output folder.
  var seal: String?
  /// The output folder, which is made for the first file; nil if it was there before the run.
  var missingFolder: String?
  /// The run's sound inputs, by name: their paths and their bytes.
  var inputs: [String: RecordingIdentity] = [:]
  /// The paths that are written, none for forecasts; nil for all.
  var only: Set<String>?
  /// The kind of the step whose files they are; nil while that is open.
  private var descriptor: StageDescriptor?
  /// The file that the step's exports are named after; nil where the user gave them names.
  private var namesake: String?

  init(
    base: any ExportFolder, pipeline: String, exports: Execution.EarlyExports, seal: String?
  ) {
    self.base = base
    self.pipeline = pipeline
    self.exports = exports
    self.seal = seal
  }

  /// The folder as one step sees it: its errors advise what the step can do.
  func of(_ step: BoundStep, namesake: String?) -> RunExportFolder {
    var folder = self
    folder.descriptor = step.descriptor
    folder.namesake = namesake
    return folder
  }

  func publish(
    _ content: Digest, at path: String, of source: ExportSource, isReplacing: Bool,
    write: (_ temporaryPath: String) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Int {
    if only?.contains(path) == false { return 0 }
    let source = completed(source, at: path)
    let refusal = try base.refusal(toReplace: path, with: source)
    // A refused export leaves the folder sealed.
    if let refusal, !isReplacing, seal != nil { throw refusal }
    // What a receipt of this run says that it replaced; nil without a file, and for the receipt itself.
    let replaced =
      receipts.isEmpty || receipts.contains(path) ? nil : try? base.digest(ofFile: path)
    if let missingFolder { try base.makeFolder(missingFolder) }
    if let seal {
      try base.makeFolder(path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".")
      if path != seal { try base.withdraw(seal, isReplacing: isReplacing) }
    }
    let byteCount = try base.publish(
      content, at: path, of: source, isReplacing: isReplacing, write: write)
    if let replaced { exports.replaced.withLock { $0[path] = $0[path] ?? replaced } }
    return byteCount
  }

  func refusal(
    toReplace path: String, with source: ExportSource
  ) throws(SpoolError) -> SpoolError? {
    try base.refusal(toReplace: path, with: completed(source, at: path))
  }

  /// A source as this run's; a file of no recording, such as a public key, is no pipeline's alone.
  private func completed(_ source: ExportSource, at path: String) -> ExportSource {
    let isOfRecording = source.recording != nil
    return ExportSource(
      source.recording, sounds: isOfRecording ? sounds : [],
      pipeline: isOfRecording ? pipeline : nil, receipts: receipts,
      naming: descriptor?.naming(pipeline, insteadOf: path), namesake: namesake)
  }

  /// The run's sound inputs, with what is known of their samples.
  var sounds: [RecordingIdentity] {
    let samples = exports.samples.withLock { $0 }
    return inputs.sorted { $0.key < $1.key }.map {
      RecordingIdentity(path: $0.value.path, digest: $0.value.digest, sound: samples[$0.key])
    }
  }

  private var isRehearsal: Bool { only?.isEmpty == true }

  func attribute(_ paths: [String], to sounds: [RecordingIdentity]) throws(SpoolError) {
    if !isRehearsal { try base.attribute(paths, to: sounds) }
  }

  func mayBeCopy(_ path: String) -> Bool { base.mayBeCopy(path) }

  func refusal(toReplaceRecording path: String) throws(SpoolError) -> SpoolError? {
    try base.refusal(toReplaceRecording: path)
  }

  func protect(_ paths: [String], by receipt: String) throws(SpoolError) {
    if !isRehearsal { try base.protect(paths, by: receipt) }
  }

  func makeFolder(_ path: String) throws(SpoolError) {
    if !isRehearsal { try base.makeFolder(path) }
  }

  func withdraw(_ path: String, isReplacing: Bool) throws(SpoolError) {
    guard only == nil else { return }
    if let seal, path != seal { try base.withdraw(seal, isReplacing: isReplacing) }
    try base.withdraw(path, isReplacing: isReplacing)
  }

  func copyFile(from source: String, to destination: String) throws(SpoolError) {
    if !isRehearsal { try base.copyFile(from: source, to: destination) }
  }

  func digest(ofFile path: String) throws(SpoolError) -> Digest { try base.digest(ofFile: path) }

  func isPublished(_ content: Digest, at path: String) throws(SpoolError) -> Bool {
    try base.isPublished(content, at: path)
  }

  func recording(ofPublished path: String) throws(SpoolError) -> RecordingIdentity? {
    try base.recording(ofPublished: path)
  }

  func byteCount(ofPublished path: String) -> Int? { base.byteCount(ofPublished: path) }

  func recognize(_ path: String, holding digest: Digest) throws(SpoolError) -> Bool {
    try base.recognize(path, holding: digest)
  }

  func isSameFile(_ path: String, _ other: String) -> Bool { base.isSameFile(path, other) }

  func sharesDisk(with folder: String) -> Bool { base.sharesDisk(with: folder) }

  func freeByteCount(at folder: String) throws(SpoolError) -> Int {
    try base.freeByteCount(at: folder)
  }
}

extension ExportFolder {
  /// Whether a path holds anything but what was published there or the bytes of this digest: it
  /// must not be replaced. O(bytes) for an unknown file.
  package func isForeign(_ path: String, to digest: Digest) -> Bool {
    guard let stamp = try? FileStamp(at: path), byteCount(ofPublished: path) == nil else {
      return false
    }
    return !stamp.isRegularFile || (try? self.digest(ofFile: path)) != digest
  }

  /// Publishes a file to the user's folder, unless the same is already there.
  /// - Parameters:
  ///   - content: the identity of the content, independent of who writes it and when.
  ///   - digest: of the file's bytes, if known.
  ///   - write: writes the file at a path beside its final one, and returns its digest if known.
  package func deliver(
    _ content: Digest, digest: Digest?, to path: String, of recording: RecordingIdentity?,
    step: StepID, isReplacing: Bool, write: (String) throws(SpoolError) -> Digest?
  ) throws(SpoolError) -> PublishedFile {
    // What takes another's place is recorded anew, though its bytes may be the same.
    let refusal = isReplacing ? try refusal(toReplace: path, with: ExportSource(recording)) : nil
    if refusal == nil, try isPublished(content, at: path),
      let byteCount = byteCount(ofPublished: path)
    {
      return PublishedFile(
        path: path, byteCount: byteCount, step: step, wasThere: true, digest: digest)
    }
    var written = digest
    let byteCount = try publish(
      content, at: path, of: ExportSource(recording), isReplacing: isReplacing
    ) { (temporary) throws(SpoolError) in written = try write(temporary) ?? digest }
    return PublishedFile(
      path: path, byteCount: byteCount, step: step, wasThere: false, digest: written)
  }
}

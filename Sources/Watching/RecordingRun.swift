internal import Glibc
internal import Hashing
internal import Inbox
internal import PipelineEngine
internal import PipelineModel
internal import Sidecars

/// One recording on its way through its inbox's pipeline.
///
/// The pipeline reads the recording's artifact, and not the file in the inbox, which is somebody
/// else's. It reads it through a link that is called as the recording was, so that exports get the
/// recording's own name. The link lies in the folder of a piece of work, which outlives a crash.
struct RecordingRun {
  let engine: WatchEngine
  let pipeline: WatchedPipeline
  /// The folder for its exports; it exists.
  let folder: String
  let recording: Artifact
  /// Where and when it arrived, and what came with it.
  let origin: RecordingOrigin
  /// What says what is said in it; nil where nothing came that does.
  let transcript: NoteTranscript?
  /// What its sidecar asks of the pipeline.
  let request: DocumentNode?
  let name: RecordingName
  /// What tells it from all others.
  let mark: String
  let stop: StopRequest
  let recorder: any RunRecorder

  /// Runs the pipeline, under a name that is free in the output folder. The recording is decoded
  /// once, as part of it.
  /// - Parameter gate: where the note is accepted before anything is published.
  func run(in claim: any WorkClaim, through gate: AcceptanceGate) throws(StageError) -> RunRecord {
    if let transcript {
      try link(transcript.artifact, as: transcript.linkName, in: claim)
    }
    var excluded: Set<String> = []
    while true {
      guard let choice = try choose(excluding: excluded, in: claim) else {
        throw StageError(
          "the exports of \(name.text()) find no place in \(folder)",
          reason: "files of other recordings have their names", advice: "move those away",
          cause: .environment)
      }
      let chosen = choice.name
      let path = try link(recording, as: chosen, in: claim)
      do throws(StageError) {
        return try run(try plan(path), path: path, gate)
      } catch {
        guard error.cause != .cancelled, excluded.isEmpty, isTaken(try files(of: path)) else {
          throw error
        }
        excluded.insert(chosen)
      }
    }
  }

  private func choose(
    excluding excluded: Set<String>, in claim: any WorkClaim
  ) throws(StageError) -> ExportNames.Choice? {
    do {
      return try engine.names.choose(
        name, mark: mark, digest: recording.digest, excluding: excluded
      ) { try files(of: claim.folder + "/" + $0) }
    } catch {
      throw (error as? StageError) ?? StageError("cannot name exports", reason: "\(error)")
    }
  }

  /// The exports of a recording that lies at a path.
  private func files(of path: String) throws(StageError) -> [String] {
    let plan = try plan(path)
    let exports = plan.steps.flatMap { step in
      (step.stage as? any PublishingStage)?.fileNames(of: step.id, recordings: [path]) ?? []
    }
    let isAsked = plan.steps.contains { $0.stage is any ReceiptStage }
    let receipt = isAsked || exports.isEmpty ? [] : engine.witness?.fileNames(for: path) ?? []
    let place = plan.enclosure { _ in [path] }.map { folder + "/" + $0.place } ?? folder
    return (exports + receipt).map { place + "/" + $0 }
  }

  /// Whether something lies at one of the paths that is not an export of this recording.
  private func isTaken(_ files: [String]) -> Bool {
    files.contains { path in
      unsafe access(path, F_OK) == 0
        && (try? engine.store.recording(ofPublished: path))?.digest != recording.digest
    }
  }

  private func plan(_ path: String) throws(StageError) -> Plan {
    try pipeline.plan(for: path, transcript: transcriptPath(beside: path), request: request)
  }

  private func transcriptPath(beside path: String) -> String? {
    transcript.map { PathText.join(PathText.folder(of: path), $0.linkName) }
  }

  private func run(
    _ plan: Plan, path: String, _ gate: AcceptanceGate
  ) throws(StageError) -> RunRecord {
    let source = pipeline.source(of: plan)
    if source == nil { try gate.pass(nil) }
    var options = Runner.Options(folder: folder)
    options.isReceiptWanted = true
    options.origins = [pipeline.input: origin]
    if let transcript, let input = pipeline.transcriptInput {
      options.origins[input] = transcript.origin(like: origin)
    }
    options.mayGoOn = { (record) throws(StageError) in
      let outputs = record.steps.first { $0.id == source }?.outputs.values
      guard let sound = outputs?.first(where: { $0.kind == .sound })?.identity else { return }
      try gate.pass(sound)
    }
    let request = RunRequest(
      pipelineText: pipeline.text, folder: folder, isReplacing: false, keepsEverything: false,
      pluginFolder: pipeline.pluginFolder)
    let record = RunRecord(
      id: engine.makeRunID(), pipeline: plan.name, pipelinePath: pipeline.path,
      inputs: plan.inputs, overrides: pipeline.overrides, startedAt: engine.clock.now,
      request: request, plugins: pipeline.plugins())
    do throws(RunError) {
      return try engine.runner(recorder, stop: stop).run(plan, options, record: record)
    } catch {
      let step = error.step.map { "\($0): " } ?? ""
      // The link is nobody's business: the user knows the recording by its name.
      func shown(_ text: String) -> String {
        let text = text.replacing(path, with: name.text())
        guard let transcript, let path = transcriptPath(beside: path) else { return text }
        return text.replacing(path, with: transcript.name)
      }
      throw StageError(
        step + shown(error.error.message), reason: error.error.reason.map(shown),
        advice: error.error.advice,
        cause: error.error.cause)
    }
  }

  /// Lets an artifact be found under a name.
  @discardableResult
  private func link(
    _ artifact: Artifact, as name: String, in claim: any WorkClaim
  ) throws(StageError) -> String {
    let target: String
    do throws(StoreError) { target = try engine.store.path(of: artifact) } catch {
      throw StageError(error)
    }
    let path = claim.folder + "/" + name
    unsafe unlink(path)
    guard unsafe symlink(target, path) == 0 else {
      throw StageError(
        "cannot name the recording \(path)", reason: unsafe String(cString: strerror(errno)),
        cause: errno == ENOSPC ? .fullDisk : .environment)
    }
    return path
  }
}

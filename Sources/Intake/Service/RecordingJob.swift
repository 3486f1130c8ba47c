import Glibc
import PipelineEngine
internal import PipelineModel
internal import Platform
import Store
internal import Synchronization

/// Processes one recording from its current state to its end: decoded, accepted, processed,
/// exported. Every step is recorded before the next one begins, so that a crash costs nothing but
/// time.
struct RecordingJob {
  let engine: WatchEngine
  let settings: InboxSettings
  let recording: Recording
  let folders: ResultFolders
  let stop: StopRequest

  /// Runs the job. A failure is recorded with the recording and never thrown.
  /// - Returns: whether the outcome is recorded; else the recording stays in progress in the store
  ///   until it is put back.
  func run() -> Bool {
    let began = engine.clock.elapsed
    do throws(SpoolError) {
      guard let begun = try change(.begin) else { return true }
      try work(on: begun, since: began)
      return true
    } catch {
      tell(.trouble, text: error.account)
      return false
    }
  }

  private func work(on recording: Recording, since began: Double) throws(SpoolError) {
    let claim: any WorkClaim
    do throws(SpoolError) { claim = try claimed() } catch {
      return try fail(error, of: recording, ended: nil)
    }
    if claim.lostSeconds != nil, recording.attempts == 1 { tell(.resumed) }
    let gate = AcceptanceGate { (sound) throws(SpoolError) in try accept(sound) }
    do throws(SpoolError) {
      let record = try recordingRun(recording).run(in: claim, through: gate)
      try gate.pass(nil)
      guard try change(.finish(reason: nil)) != nil else { return claim.release() }
      claim.end()
      tell(
        .uploaded, exports: record.published.map(\.path), findings: record.findings,
        seconds: engine.clock.elapsed - began)
    } catch {
      if gate.isDismissed { return claim.end() }
      try fail(error, of: recording, ended: claim)
    }
  }

  private func recordingRun(_ recording: Recording) throws(SpoolError) -> RecordingRun {
    let (path, origin, transcript) = try arrival(of: recording)
    let place = try exportPlace(of: recording, at: path)
    return RecordingRun(
      engine: engine, pipeline: settings.pipeline,
      folder: try OutputTree(root: settings.out).makeFolder(
        place.folders.joined(separator: "/")),
      recording: recording.content, origin: origin, transcript: transcript,
      request: StoredFacts(of: recording).request,
      name: place.name, mark: String(recording.key.name.prefix(8)), stop: stop,
      recorder: RecordingRunRecorder(recording, engine))
  }

  /// Where below the output folder the exports go, and their name.
  private func exportPlace(
    of recording: Recording, at path: InboxPath
  ) throws(SpoolError) -> (folders: [String], name: RecordingName) {
    guard let template = settings.template else {
      return (path.safeFolders, RecordingName(path.name))
    }
    var tags: [String: String] = [:]
    if template.needsTags {
      let recording = try engine.store.path(of: recording.content)
      // A recording that cannot be probed fails with a reason when it is decoded.
      tags = engine.probe.describe(recording)?.tags ?? [:]
    }
    let known = path.names.map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: "/")
    var names = template.fill(
      NameFields(
        path: known, sidecar: StoredFacts(of: recording).nameFields(of: recording), tags: tags)
    ).split(separator: "/").map(String.init)
    let stem = names.popLast() ?? "recording"
    return (names, RecordingName(stem: stem, endingOf: path.name))
  }

  /// Where in its inbox the recording arrived, and its origin for the receipt.
  private func arrival(of recording: Recording) throws(SpoolError) -> (
    path: InboxPath, origin: RecordingOrigin, transcript: RecordingTranscript?
  ) {
    let files: [RecordingFile]
    let sidecar: (artifact: Artifact, bytes: [UInt8])?
    files = try engine.store.recordings.files(of: recording.key)
    sidecar = try recording.sidecar.map { (own) throws(SpoolError) in
      (own, own.byteCount <= Sidecar.byteLimit ? Array(try engine.store.text(of: own).utf8) : [])
    }
    func path(_ role: RecordingFile.Role) -> InboxPath? {
      files.first { $0.role == role }.flatMap { InboxPath(escaped: $0.path) }
    }
    let origin = RecordingOrigin(
      name: recording.fileName, inbox: recording.inbox, arrivedAt: recording.receivedAt,
      sidecarName: path(.sidecar)?.name?.text, sidecar: recording.sidecar,
      noteID: recording.shownID)
    let transcript =
      settings.pipeline.transcriptInput == nil
      ? nil : RecordingTranscript(among: files, sidecar: sidecar)
    return (path(.recording) ?? .inbox, origin, transcript)
  }

  /// - Returns: whether the run continues.
  private func accept(_ sound: Digest?) throws(SpoolError) -> Bool {
    let answer: RecordingAcceptance
    answer = try engine.store.recordings.accept(
      recording.key, sound: sound, conflicts: settings.recordingRules.conflicts)
    switch answer {
    case .accepted: return true
    case .duplicate(_, let original):
      tell(.duplicate, text: "it sounds like \(original)")
      return false
    case .conflict(_, let other):
      tell(.conflict, text: "it claims to be \(other) with other bytes and another sound")
      return false
    case .refused(let refusal):
      tell(.warning, text: "it is left alone: \(refusal.reason)")
      return false
    }
  }

  private func fail(
    _ error: SpoolError, of recording: Recording, ended claim: (any WorkClaim)?
  ) throws(SpoolError) {
    // While a folder for results is away, a failure says nothing about the recording.
    let pause = error.cause == .cancelled ? nil : folders.look(at: engine.clock.now)
    let change =
      pause.map { .putBack(reason: $0.reason) }
      ?? settings.recordingRules.retry.change(
        after: error, attempt: recording.attempts, at: engine.store.recordings.now,
        chance: engine.clock.jitter())
    let changed = try self.change(change)
    switch change {
    case .quarantine: claim?.end()
    default: claim?.release()
    }
    guard let changed else { return }
    let words = error.account
    switch changed.state {
    case .quarantined: tell(.quarantined, text: words)
    case .failed:
      if let next = changed.nextAttempt {
        tell(.retrying, text: words, seconds: max(0, next - engine.store.recordings.now))
      } else {
        let next = changed.nextCommands.first.map { engine.option.completing($0) }
        tell(.failed, text: words + (next.map { "; next: \($0)" } ?? ""))
      }
    default: break
    }
  }

  /// - Returns: nil if another process has changed the recording meanwhile.
  private func change(_ change: RecordingChange) throws(SpoolError) -> Recording? {
    return try engine.store.recordings.change(recording.key, change)?.recording
  }

  private func claimed() throws(SpoolError) -> any WorkClaim {
    var hasher = SHA256()
    hasher.update("spool-note-1\n\(recording.key)\n")
    switch try engine.store.claim(hasher.finalize(), summary: "note \(recording.key)") {
    case .granted(let claim): return claim
    case .taken(let owner):
      throw SpoolError(
        "work on the note", recording.key.name,
        reason: "process \(owner.processNumber) works on it")
    }
  }

  private func tell(
    _ event: WatchEvent.Event, text: String? = nil, exports: [String]? = nil,
    findings: [String: JSONValue] = [:], seconds: Double? = nil
  ) {
    engine.recorder.record(
      WatchEvent(
        event, at: engine.clock.now, inbox: settings.path, recording: recording.key.name,
        file: recording.fileName, text: text, exports: exports,
        findings: findings.isEmpty ? nil : findings, seconds: seconds))
  }
}

/// Logs only those run events that a log of months should hold.
private struct RecordingRunRecorder: RunRecorder {
  private let recording: Recording
  private let engine: WatchEngine

  init(_ recording: Recording, _ engine: WatchEngine) {
    self.recording = recording
    self.engine = engine
  }

  func record(_ event: RunEvent) {
    if case .retrying(let step, let error, let delay) = event {
      tell(.retrying, (step.map { "\($0): " } ?? "") + error.account, seconds: delay)
    } else if let (step, text) = event.concern {
      tell(.warning, "\(step): \(text)")
    }
  }

  private func tell(_ event: WatchEvent.Event, _ text: String, seconds: Double? = nil) {
    engine.recorder.record(
      WatchEvent(
        event, at: engine.clock.now, inbox: recording.inbox, recording: recording.key.name,
        file: recording.fileName, text: text, seconds: seconds))
  }
}

/// One recording's run through its inbox's pipeline.
///
/// The pipeline reads the recording's artifact, not the file in the inbox, through a link with the
/// recording's name, so that exports get that name. The link lies in a work folder that survives a
/// crash.
struct RecordingRun {
  let engine: WatchEngine
  let pipeline: WatchedPipeline
  /// The folder for its exports; it exists.
  let folder: String
  let recording: Artifact
  /// Where and when it arrived, and what came with it.
  let origin: RecordingOrigin
  /// Its transcript; nil if it has none.
  let transcript: RecordingTranscript?
  /// What its sidecar asks of the pipeline.
  let request: DocumentNode?
  let name: RecordingName
  /// Distinguishes it from all other recordings.
  let mark: String
  let stop: StopRequest
  let recorder: any RunRecorder

  /// Runs the pipeline under a name that is free in the output folder. The recording is decoded
  /// once, as part of the run.
  /// - Parameter gate: accepts the recording before anything is published.
  func run(in claim: any WorkClaim, through gate: AcceptanceGate) throws(SpoolError) -> RunRecord {
    if let transcript {
      try link(transcript.artifact, as: transcript.linkName, in: claim)
    }
    var excluded: Set<String> = []
    while true {
      guard let choice = try choose(excluding: excluded, in: claim) else {
        throw SpoolError(
          "the exports of \(name.text()) find no place in \(folder)",
          reason: "files of other recordings have their names", advice: "move those away",
          cause: .environment)
      }
      let chosen = choice.name
      let path = try link(recording, as: chosen, in: claim)
      do throws(SpoolError) {
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
  ) throws(SpoolError) -> ExportNames.Choice? {
    do {
      return try engine.names.choose(
        name, mark: mark, digest: recording.digest, excluding: excluded
      ) { try files(of: claim.folder + "/" + $0) }
    } catch {
      throw (error as? SpoolError) ?? SpoolError("cannot name exports", reason: "\(error)")
    }
  }

  /// The exports of a recording at a path.
  private func files(of path: String) throws(SpoolError) -> [String] {
    let plan = try plan(path)
    let exports = plan.steps.flatMap { step in
      (step.stage as? any PublishingStage)?.fileNames(of: step.id, recordings: [path]) ?? []
    }
    let isAsked = plan.steps.contains { $0.stage is any ReceiptStage }
    let receipt = isAsked || exports.isEmpty ? [] : engine.receiptWriter?.fileNames(for: path) ?? []
    let place = plan.enclosure { _ in [path] }.map { folder + "/" + $0.place } ?? folder
    return (exports + receipt).map { place + "/" + $0 }
  }

  /// Whether a file at one of the paths is not an export of this recording.
  private func isTaken(_ files: [String]) -> Bool {
    files.contains { path in
      unsafe access(path, F_OK) == 0
        && (try? engine.store.recording(ofPublished: path))?.digest != recording.digest
    }
  }

  private func plan(_ path: String) throws(SpoolError) -> Plan {
    try pipeline.plan(for: path, transcript: transcriptPath(beside: path), request: request)
  }

  private func transcriptPath(beside path: String) -> String? {
    transcript.map { PathText.join(PathText.folder(of: path), $0.linkName) }
  }

  private func run(
    _ plan: Plan, path: String, _ gate: AcceptanceGate
  ) throws(SpoolError) -> RunRecord {
    let source = pipeline.source(of: plan)
    if source == nil { try gate.pass(nil) }
    var options = Runner.Options(folder: folder)
    options.isReceiptWanted = true
    options.origins = [pipeline.input: origin]
    if let transcript, let input = pipeline.transcriptInput {
      options.origins[input] = transcript.origin(like: origin)
    }
    options.mayGoOn = { (record) throws(SpoolError) in
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
      // Users know the recording by its name, not by the link.
      func shown(_ text: String) -> String {
        let text = text.replacing(path, with: name.text())
        guard let transcript, let path = transcriptPath(beside: path) else { return text }
        return text.replacing(path, with: transcript.name)
      }
      throw SpoolError(
        step + shown(error.error.message), reason: error.error.reason.map(shown),
        advice: error.error.advice,
        cause: error.error.cause)
    }
  }

  /// Links to an artifact by a name.
  @discardableResult
  private func link(
    _ artifact: Artifact, as name: String, in claim: any WorkClaim
  ) throws(SpoolError) -> String {
    let target = try engine.store.path(of: artifact)
    let path = claim.folder + "/" + name
    unsafe unlink(path)
    guard unsafe symlink(target, path) == 0 else {
      throw SpoolError("name the recording", path, SystemError.last)
    }
    return path
  }
}

/// Accepts a recording during its run: after it is decoded to its end, and before anything is
/// published. The run ends here if the sound is a duplicate.
final class AcceptanceGate: Sendable {
  private enum State {
    /// Not decoded to its end yet.
    case outside
    case accepted
    /// A duplicate: nothing more to do.
    case dismissed
  }

  private let status = Mutex(State.outside)
  private let decide: @Sendable (Digest?) throws(SpoolError) -> Bool

  /// - Parameter decide: records the acceptance and returns whether the run continues.
  init(_ decide: @Sendable @escaping (Digest?) throws(SpoolError) -> Bool) { self.decide = decide }

  var isDismissed: Bool { status.withLock { $0 == .dismissed } }

  /// Accepts the recording, once.
  /// - Parameter sound: the identity of its sound; nil if the pipeline does not state one.
  /// - Throws: if the run ends here.
  func pass(_ sound: Digest?) throws(SpoolError) {
    try status.withLock { (status) throws(SpoolError) in
      if status == .outside { status = try decide(sound) ? .accepted : .dismissed }
      if status == .dismissed { throw .cancelled }
    }
  }
}

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
      let record = try process(recording, in: claim, through: gate)
      try gate.pass(nil)
      guard let ended = try engine.store.recordings.finish(recording.key)?.recording else {
        return claim.release()
      }
      claim.end()
      tell(
        ended.state == .uploaded ? .uploaded : .uploading, exports: record.published.map(\.path),
        findings: record.findings,
        damage: record.damage,
        seconds: engine.clock.elapsed - began)
      try tellHeld(ended)
    } catch {
      if gate.isDismissed { return claim.end() }
      try fail(error, of: recording, ended: claim)
    }
  }

  /// Runs the pipeline under a name that is free in the output folder. The recording is decoded
  /// once, as part of the run.
  /// - Parameter gate: accepts the recording before anything is published.
  private func process(
    _ recording: Recording, in claim: any WorkClaim, through gate: AcceptanceGate
  ) throws(SpoolError) -> RunRecord {
    let pipeline = settings.pipeline
    let (path, origin, transcript) = try arrival(of: recording)
    let sidecar = try sidecar(of: recording).map { Sidecar(json: $0.bytes) }
    let chapters = sidecar?.chapters
    // A device may have renamed it.
    let title = sidecar?.title.map { recording.title ?? $0 }
    let (folders, name) = try exportPlace(of: recording, at: path)
    let folder = try makeOutputFolder(folders.joined(separator: "/"), below: settings.out)
    let file = try file(recording.content, name.fileName(), in: claim)
    // A failure is about what arrived, whatever its exports are called.
    let arrived = RecordingName(path.name).text()
    var (files, shownNames) = ([pipeline.input: file], [file.name: arrived])
    var origins = [pipeline.input: origin]
    if let transcript, let input = pipeline.transcriptInput {
      let file = try self.file(transcript.artifact, transcript.fileName, in: claim)
      (files[input], shownNames[file.name]) = (file, transcript.name)
      origins[input] = origin.ofText(named: transcript.name)
    }
    let request = StoredFacts(of: recording).request
    let plan = try pipeline.plan(for: files, request: request)
    let source = pipeline.source(of: plan)
    if source == nil { try gate.pass(nil) }
    var excluded: Set<String> = []
    while true {
      let choice = engine.names.choose(
        name, mark: String(recording.key.name.prefix(8)), digest: recording.content.digest,
        pipeline: plan.name, excluding: excluded
      ) { exports(of: plan, named: $0, in: folder) }
      guard let choice else {
        let others = exports(of: plan, named: "b.wav", in: folder)
        let fixed = exports(of: plan, named: "a.wav", in: folder).first(where: others.contains)
        throw SpoolError(
          "the exports of \(name.text()) find no place in \(folder)",
          reason: fixed.map { "the pipeline gives those of every recording the name \($0)" }
            ?? "files of other recordings or pipelines have their names",
          advice: fixed == nil
            ? "move those away" : "put {stem}, the recording's name, into the name in the pipeline",
          cause: .environment)
      }
      let chosen = choice.name
      let order = RunRequest(
        pipelineText: pipeline.text, folder: folder, isReplacing: false, keepsEverything: false,
        // Without a mark, the path has the name already.
        names: chosen == name.fileName() ? nil : [pipeline.input: chosen],
        pluginFolder: pipeline.pluginFolder, chapters: chapters.map { [pipeline.input: $0] },
        titles: title.map { [pipeline.input: $0] }, signing: pipeline.signing)
      var options = Runner.Options(order)
      options.origins = origins
      options.mayGoOn = { (record) throws(SpoolError) in
        let outputs = record.steps.first { $0.id == source }?.outputs.values
        guard let sound = outputs?.first(where: { $0.kind == .sound })?.identity else { return }
        try gate.pass(sound)
      }
      options.isAccepted = { [shownNames] step, error in
        let failure = shown(RunError(error, step: step), shownNames)
        let events = try? engine.store.recordings.events(of: recording.key)
        return events?.isReleased(from: failure.account) ?? false
      }
      let record = try RunRecord(
        id: engine.makeRunID(), pipeline: plan.name, pipelinePath: pipeline.path,
        inputs: plan.inputs, overrides: pipeline.overrides(with: request),
        startedAt: engine.clock.now, request: order, plugins: pipeline.plugins())
      do throws(RunError) {
        return try engine.runner(self, of: recording, stop: stop).run(plan, options, record: record)
      } catch {
        guard error.error.cause != .cancelled, error.error.kind != .unneeded, excluded.isEmpty,
          isTaken(exports(of: plan, named: chosen, in: folder), by: recording)
        else { throw shown(error, shownNames) }
        excluded.insert(chosen)
      }
    }
  }

  /// An artifact under its name in the work folder: every run of one recording has the same inputs
  /// in its record, and can be resumed as long as the folder is there.
  private func file(
    _ artifact: Artifact, _ name: String, in claim: any WorkClaim
  ) throws(SpoolError) -> SourceFile {
    SourceFile(try engine.store.path(of: artifact), named: claim.folder + "/" + name)
  }

  /// The exports of the recording under a name, as absolute paths.
  private func exports(of plan: Plan, named name: String, in folder: String) -> [String] {
    plan.exportPaths([settings.pipeline.input: name]).map { folder + "/" + $0 }
  }

  /// Whether a file at one of the paths is not an export of this recording.
  private func isTaken(_ files: [String], by recording: Recording) -> Bool {
    files.contains { path in
      FilePath.exists(path)
        && (try? engine.store.recording(ofPublished: path))?.digest != recording.content.digest
    }
  }

  /// A run's failure as users read it: they know the recording by its name, not by the path in
  /// its run's record.
  private func shown(_ error: RunError, _ names: [String: String]) -> SpoolError {
    var failure = error.error.naming(names)
    failure.scope = (error.step.map { [$0.name] } ?? []) + failure.scope
    return failure
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
    let sidecar = try sidecar(of: recording).map { Sidecar(json: $0.bytes) }
    let known = path.names.map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: "/")
    var names = template.fill(
      NameFields(
        path: known,
        sidecar: StoredFacts(of: recording).nameFields(of: recording, sidecar: sidecar, tags: tags),
        tags: tags)
    ).pathNames
    let stem = names.popLast() ?? "recording"
    return (names, RecordingName(stem: stem, endingOf: path.name))
  }

  /// Where in its inbox the recording arrived, and its origin for the receipt.
  private func arrival(of recording: Recording) throws(SpoolError) -> (
    path: InboxPath, origin: RecordingOrigin, transcript: Transcript?
  ) {
    let files = try engine.store.recordings.files(of: recording.key)
    let sidecar = try sidecar(of: recording)
    let transcript = try transcript(of: recording, among: files, sidecar: sidecar)
    let path = files.first { $0.role == .recording }.flatMap { InboxPath(escaped: $0.path) }
    return (path ?? .inbox, RecordingOrigin(of: recording, files), transcript)
  }

  /// The recording's sidecar and its bytes, none of one that is too long; nil if it has none.
  private func sidecar(
    of recording: Recording
  ) throws(SpoolError) -> (artifact: Artifact, bytes: [UInt8])? {
    try recording.sidecar.map { (own) throws(SpoolError) in
      (own, own.byteCount <= Sidecar.byteLimit ? try engine.store.bytes(of: own) : [])
    }
  }

  /// - Returns: why the run ends here; nil if it continues.
  private func accept(_ sound: Digest?) throws(SpoolError) -> String? {
    let answer = try engine.store.recordings.accept(
      recording.key, sound: sound, conflicts: settings.recordingRules.conflicts)
    let (event, text): (WatchEvent.Event, String)
    switch answer {
    case .accepted: return nil
    case .duplicate(let repeated, let original):
      (event, text) = (
        .duplicate,
        "it sounds like \(original)" + (try tellDifferences(of: repeated, from: original) ?? "")
      )
    case .conflict(_, let other):
      (event, text) = (
        .conflict, "it claims to be \(other) with other bytes and another sound"
      )
    case .refused(let refusal):
      (event, text) = (.warning, "it is left alone: \(refusal.reason)")
    }
    tell(event, text: text)
    return text
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
    let work = SHA256.digest(of: "spool-note-1\n\(recording.key)\n")
    switch try engine.store.claim(work, summary: "recording \(recording.key)") {
    case .granted(let claim): return claim
    case .taken(let owner):
      throw SpoolError(
        "work on the recording", recording.key.name,
        reason: "process \(owner.processNumber) works on it")
    }
  }

  func tell(
    _ event: WatchEvent.Event, text: String? = nil, exports: [String]? = nil,
    findings: [String: JSONValue] = [:], damage: [String: RecordingDamage] = [:],
    seconds: Double? = nil
  ) {
    engine.record(
      WatchEvent(
        event, at: engine.clock.now, inbox: settings.path, recording: recording.key.name,
        file: recording.fileName, text: text, exports: exports,
        findings: findings.isEmpty ? nil : findings, damage: damage.isEmpty ? nil : damage,
        seconds: seconds))
  }
}

extension RecordingJob: RunRecorder {
  /// Logs only those run events that a log of months should hold.
  func record(_ event: RunEvent) {
    if case .retrying(let step, let error, let delay) = event {
      tell(.retrying, text: (step.map { "\($0): " } ?? "") + error.account, seconds: delay)
    } else if let (step, text) = event.concern {
      tell(.warning, text: "\(step): \(text)")
    }
  }
}

/// Accepts a recording during its run: after it is decoded to its end, and before anything is
/// published. The run ends here if the sound is a duplicate.
private final class AcceptanceGate: Sendable {
  private enum State {
    /// Not decoded to its end yet.
    case outside
    case accepted
    /// A duplicate, say: nothing more to do, and why.
    case dismissed(String)
  }

  private let status = Mutex(State.outside)
  private let decide: @Sendable (Digest?) throws(SpoolError) -> String?

  /// - Parameter decide: records the acceptance and returns why the run ends; nil if it continues.
  init(_ decide: @Sendable @escaping (Digest?) throws(SpoolError) -> String?) {
    self.decide = decide
  }

  var isDismissed: Bool {
    status.withLock { if case .dismissed = $0 { true } else { false } }
  }

  /// Accepts the recording, once.
  /// - Parameter sound: the identity of its sound; nil if the pipeline does not state one.
  /// - Throws: if the run ends here.
  func pass(_ sound: Digest?) throws(SpoolError) {
    try status.withLock { (status) throws(SpoolError) in
      if case .outside = status {
        status = try decide(sound).map { .dismissed($0) } ?? .accepted
      }
      if case .dismissed(let reason) = status {
        throw SpoolError("no more work is needed", reason: reason, kind: .unneeded)
      }
    }
  }
}

extension InboxPath {
  /// The folders around it, each made fit to be part of any path.
  var safeFolders: [String] {
    folder.names.map {
      PrintableText.fileName(String(decoding: $0.bytes, as: UTF8.self)) ?? "folder"
    }
  }
}

internal import Hashing
internal import Inbox
internal import JSONText
internal import PipelineEngine
internal import Media
internal import PipelineModel
internal import Sidecars

/// Takes one note from where it stands to its end: decoded, accepted, processed, exported. Every
/// step is recorded before the next one begins, so that a crash costs nothing but time.
struct NoteJob {
  let engine: WatchEngine
  let settings: InboxSettings
  let note: Note
  let folders: ResultFolders
  let stop: StopRequest

  /// Does it. What goes wrong becomes part of the note, and never gets out.
  /// - Returns: whether the ledger knows what became of the note; else it stands under way there
  ///   until it is put back.
  func run() -> Bool {
    let began = engine.clock.elapsed
    do throws(StageError) {
      guard let begun = try change(.begin) else { return true }
      try work(on: begun, since: began)
      return true
    } catch {
      tell(.trouble, text: error.account)
      return false
    }
  }

  private func work(on note: Note, since began: Double) throws(StageError) {
    let claim: any WorkClaim
    do throws(StageError) { claim = try claimed() } catch {
      return try fail(error, of: note, ended: nil)
    }
    if claim.lostSeconds != nil, note.attempts == 1 { tell(.resumed) }
    let gate = AcceptanceGate { (sound) throws(StageError) in try accept(sound) }
    do throws(StageError) {
      let record = try recordingRun(note).run(in: claim, through: gate)
      try gate.pass(nil)
      guard try change(.finish(reason: nil)) != nil else { return claim.release() }
      claim.end()
      tell(
        .uploaded, exports: record.published.map(\.path), findings: record.findings,
        seconds: engine.clock.elapsed - began)
    } catch {
      if gate.isDismissed { return claim.end() }
      try fail(error, of: note, ended: claim)
    }
  }

  private func recordingRun(_ note: Note) throws(StageError) -> RecordingRun {
    let (path, origin, transcript) = try arrival(of: note)
    let place = try exportPlace(of: note, at: path)
    return RecordingRun(
      engine: engine, pipeline: settings.pipeline,
      folder: try OutputTree.make(place.folders, in: settings.out),
      recording: note.recording, origin: origin, transcript: transcript,
      request: KeptFacts(of: note).request,
      name: place.name, mark: String(note.key.name.prefix(8)), stop: stop,
      recorder: NoteRunRecorder(note, engine))
  }

  /// Where below the output folder the exports go, and what they are called.
  private func exportPlace(
    of note: Note, at path: InboxPath
  ) throws(StageError) -> (folders: [String], name: RecordingName) {
    guard let template = settings.template else {
      return (path.safeFolders, RecordingName(path.name))
    }
    var tags: [String: String] = [:]
    if template.needsTags {
      do throws(StoreError) {
        let recording = try engine.store.path(of: note.recording)
        // A recording that cannot be looked into says why when it is decoded.
        tags = (try? MediaProbe.describe(recording).tags) ?? [:]
      } catch {
        throw StageError(error)
      }
    }
    let known = path.names.map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: "/")
    var names = template.fill(
      NameFields(path: known, sidecar: KeptFacts(of: note).nameFields(of: note), tags: tags)
    ).split(separator: "/").map(String.init)
    let stem = names.popLast() ?? "recording"
    return (names, RecordingName(stem: stem, endingOf: path.name))
  }

  /// Where in its inbox the recording arrived, and what is to be told of that.
  private func arrival(of note: Note) throws(StageError) -> (
    path: InboxPath, origin: RecordingOrigin, transcript: NoteTranscript?
  ) {
    let files: [NoteFile]
    let sidecar: (artifact: Artifact, bytes: [UInt8])?
    do throws(StoreError) {
      files = try engine.store.files(of: note.key)
      sidecar = try note.sidecar.map { (own) throws(StoreError) in
        (own, own.byteCount <= Sidecar.byteLimit ? Array(try engine.store.text(of: own).utf8) : [])
      }
    } catch {
      throw StageError(error)
    }
    func path(_ role: NoteFile.Role) -> InboxPath? {
      files.first { $0.role == role }.flatMap { InboxPath(escaped: $0.path) }
    }
    let origin = RecordingOrigin(
      name: note.fileName, inbox: note.inbox, arrivedAt: note.receivedAt,
      sidecarName: path(.sidecar)?.name?.text, sidecar: note.sidecar,
      noteID: note.shownID)
    let transcript =
      settings.pipeline.transcriptInput == nil
      ? nil : NoteTranscript(among: files, sidecar: sidecar)
    return (path(.recording) ?? .inbox, origin, transcript)
  }

  /// - Returns: whether the note is to be gone on with.
  private func accept(_ sound: Digest?) throws(StageError) -> Bool {
    let answer: NoteAcceptance
    do throws(StoreError) {
      answer = try engine.store.accept(
        note.key, sound: sound, conflicts: settings.custody.conflicts)
    } catch {
      throw StageError(error)
    }
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
    _ error: StageError, of note: Note, ended claim: (any WorkClaim)?
  ) throws(StageError) {
    // Where nothing can be put anywhere, nothing that failed says anything about the note.
    let pause = error.cause == .cancelled ? nil : folders.look(at: engine.clock.now)
    let change =
      pause.map { .putBack(reason: $0.reason) }
      ?? settings.custody.retry.change(
        after: error, attempt: note.attempts, at: engine.store.noteTime,
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
        tell(.retrying, text: words, seconds: max(0, next - engine.store.noteTime))
      } else {
        let next = changed.nextCommands.first.map { engine.option.completing($0) }
        tell(.failed, text: words + (next.map { "; next: \($0)" } ?? ""))
      }
    default: break
    }
  }

  /// - Returns: nil where the note does not allow it any more: somebody else has changed it.
  private func change(_ change: NoteChange) throws(StageError) -> Note? {
    do throws(StoreError) {
      return try engine.store.change(note.key, change)?.note
    } catch {
      throw StageError(error)
    }
  }

  private func claimed() throws(StageError) -> any WorkClaim {
    var hasher = SHA256()
    hasher.update("spool-note-1\n\(note.key)\n")
    do throws(StoreError) {
      switch try engine.store.claim(hasher.finalize(), summary: "note \(note.key)") {
      case .granted(let claim): return claim
      case .taken(let owner):
        throw StoreError(
          "work on the note", path: note.key.name,
          reason: "process \(owner.processNumber) works on it")
      }
    } catch {
      throw StageError(error)
    }
  }

  private func tell(
    _ event: WatchNews.Event, text: String? = nil, exports: [String]? = nil,
    findings: [String: JSONValue] = [:], seconds: Double? = nil
  ) {
    engine.recorder.record(
      WatchNews(
        event, at: engine.clock.now, inbox: settings.path, note: note.key.name,
        file: note.fileName, text: text, exports: exports,
        findings: findings.isEmpty ? nil : findings, seconds: seconds))
  }
}

/// Tells of a note's run only what a log of months should hold.
private struct NoteRunRecorder: RunRecorder {
  private let note: Note
  private let engine: WatchEngine

  init(_ note: Note, _ engine: WatchEngine) {
    self.note = note
    self.engine = engine
  }

  func record(_ event: RunEvent) {
    if case .retrying(let step, let error, let delay) = event {
      tell(.retrying, (step.map { "\($0): " } ?? "") + error.account, seconds: delay)
    } else if let (step, text) = event.concern {
      tell(.warning, "\(step): \(text)")
    }
  }

  private func tell(_ event: WatchNews.Event, _ text: String, seconds: Double? = nil) {
    engine.recorder.record(
      WatchNews(
        event, at: engine.clock.now, inbox: note.inbox, note: note.key.name,
        file: note.fileName, text: text, seconds: seconds))
  }
}

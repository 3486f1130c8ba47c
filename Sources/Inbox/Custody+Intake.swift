internal import Sidecars
internal import Hashing
internal import PipelineModel

extension Custody {
  /// Takes a file that settled into the store: its digest first, then its bytes, flushed and
  /// verified, and then, in one step, what it is.
  ///
  /// Where this throws, or its process dies, the file lies in the inbox as before and can be taken
  /// in again.
  ///
  /// - Parameters:
  ///   - recording: as the watcher told it.
  ///   - container: what its container says of it.
  ///   - refusal: why it cannot be accepted; it is kept and quarantined then.
  public func takeIn(
    _ recording: SettledRecording, container: ContainerFacts? = nil, refusal: String? = nil
  ) throws(CustodyError) -> CustodyIntake {
    let folder = try ownFolder()
    guard let name = recording.path.name,
      let taken = try take(recording.path, recording.stamp, as: .sound, from: folder)
    else { return .changed }
    var sidecar: (taken: Taken, facts: Sidecar)?
    if let path = recording.sidecar { sidecar = try takeSidecar(path, nil, from: folder) }
    // What is no sidecar settles by itself, and is told of then.
    if sidecar?.facts.isTranscript == true { sidecar = nil }
    let facts = RecordingFacts(sidecar: sidecar?.facts, container: container, name: name)
    var arrival = NoteArrival(
      pipeline: pipeline, inbox: inbox, path: recording.path.escaped,
      stamp: NoteFileStamp(taken.stamp), fileName: name.description, recording: taken.artifact)
    if let sidecar, let path = recording.sidecar {
      arrival.sidecar = NoteArrival.Companion(
        path: path.escaped, stamp: NoteFileStamp(sidecar.taken.stamp),
        artifact: sidecar.taken.artifact)
    }
    arrival.transcripts = try takeTranscripts(of: recording, from: folder)
    if let path = recording.marker, let stamp = try folder.stamp(of: path), stamp.kind == .file {
      arrival.marker = NoteArrival.Companion(
        path: path.escaped, stamp: NoteFileStamp(stamp), artifact: nil)
    }
    arrival.deviceID = facts.noteID?.value.text
    arrival.deviceName = facts.noteID?.value.written
    arrival.facts = CustodyFacts.json(
      facts, sidecar: sidecar?.facts, transcript: transcript(of: arrival, sidecar?.facts),
      doubt: recording.doubt)
    arrival.title = facts.title?.value
    arrival.tags = sidecar?.facts.tags ?? []
    arrival.refusal = refusal
    let admission = try inStore { () throws(StoreError) in
      try store.admit(arrival, conflicts: rules.conflicts)
    }
    if case .duplicate(let note) = admission, let sidecar {
      return .duplicate(of: try fill(note, from: sidecar.facts, of: sidecar.taken) ?? note)
    }
    return CustodyIntake(admission)
  }

  /// Takes in a sidecar that came by itself, for the recording beside it if that was received
  /// lately.
  /// - Parameter stamp: the version that settled.
  public func takeSidecar(
    at path: InboxPath, stamp: FileStamp
  ) throws(CustodyError) -> CustodySidecar {
    let folder = try ownFolder()
    if try isTranscript(path, stamp, in: folder) { return .transcript }
    guard
      let (note, file) = try recipient(
        of: path, stems: SidecarName.recordingStems, candidates: SidecarName.candidates)
    else { return .waiting }
    guard let (taken, sidecar) = try takeSidecar(path, stamp, from: folder) else {
      return .changed
    }
    let isRepeated = note.sidecar == taken.artifact
    // Another recording's, which has not come yet or is being written.
    let isForeign =
      sidecar.noteID.map { id in note.deviceID.map { $0 != id.text } ?? false } ?? false
    let isCopy = try isCopy(file)
    var changed = note
    if isForeign || (note.sidecar != nil && !isRepeated && isCopy) {
      // The copy's own word, which came behind it.
      guard isCopy, CustodyFacts.mayBe(sidecar, of: note) else { return .waiting }
      if isForeign, let id = sidecar.noteID {
        guard
          let named = try inStore({ () throws(StoreError) in
            try store.addAlias(id.text, written: id.written, to: file)
          })
        else { return .waiting }
        changed = named
      }
      changed = try fill(changed, from: sidecar, of: taken) ?? changed
    } else if !isRepeated {
      // A title that somebody has given it since counts for more.
      let isRenamed = note.title != CustodyFacts.title(in: note.facts)
      let late = LateSidecar(
        taken.artifact, deviceID: sidecar.noteID?.text, deviceName: sidecar.noteID?.written,
        facts: CustodyFacts.json(note.facts, adding: sidecar),
        title: isRenamed ? nil : sidecar.title, tags: sidecar.tags,
        isReplacing: CustodyFacts.hasUnreadableSidecar(note.facts))
      switch try change(note.key, .attach(late)) {
      case .changed(let note): changed = note
      case .refused(let refusal): return .refused(refusal)
      case nil: return .waiting
      }
    }
    if try !inStore({ () throws(StoreError) in
      try store.isKnown(path: path.escaped, stamp: NoteFileStamp(taken.stamp), inbox: inbox)
    }) {
      try inStore { () throws(StoreError) in
        try store.addFile(
          .sidecar, path: path.escaped, stamp: NoteFileStamp(taken.stamp), digest: nil,
          inbox: inbox, to: note.key)
      }
    }
    return isRepeated ? .known(changed) : .attached(changed)
  }

  /// Whether the version of a file that settled is a transcript.
  private func isTranscript(
    _ path: InboxPath, _ stamp: FileStamp, in folder: borrowing CustodyFolder
  ) throws(CustodyError) -> Bool {
    do throws(CustodyError) {
      let file = try folder.open(path)
      guard file.stamp == stamp else { return false }
      return try inInbox { () throws(InboxError) in try file.isTranscript() }
    } catch {
      // Whoever takes it says what is wrong with it.
      if error.kind == .missing { return false }
      switch error.kind {
      case .link, .wrongKind, .special, .sparse, .denied, .changed: return false
      default: throw error
      }
    }
  }

  /// Takes over from a copy's sidecar what the note lacks, and notes what differs.
  /// - Returns: the note, where that changed it.
  private func fill(
    _ note: Note, from sidecar: Sidecar, of taken: Taken
  ) throws(CustodyError) -> Note? {
    guard sidecar.isReadable, note.sidecar != taken.artifact else { return nil }
    let (facts, isChanged) = CustodyFacts.json(
      note.facts, title: note.title, tags: note.tags, filledBy: sidecar)
    guard isChanged else { return nil }
    // Its own sidecar stays the one that it has.
    let late = LateSidecar(
      note.sidecar ?? taken.artifact, facts: facts,
      title: note.title == nil ? sidecar.title : nil, tags: sidecar.tags, isReplacing: true)
    return try change(note.key, .attach(late))?.note
  }

  /// Whether a file brought a note that was there already.
  private func isCopy(_ file: NoteFile) throws(CustodyError) -> Bool {
    let first = try inStore { () throws(StoreError) in
      try store.files(of: file.note).filter { $0.role == .recording }.map(\.id).min()
    }
    return first.map { $0 < file.id } ?? false
  }

  /// The note whose recording lies, or lay until lately, beside a sidecar or a transcript, and that
  /// file.
  /// - Parameters:
  ///   - stems: what recordings of such a file may be called, without their endings.
  ///   - candidates: what such files of a recording may be called.
  func recipient(
    of path: InboxPath, stems: (FileName) -> [FileName], candidates: (FileName) -> [FileName]
  ) throws(CustodyError) -> (note: Note, file: NoteFile)? {
    guard let name = path.name else { return nil }
    let since = store.noteTime - rules.lateSidecarLimit
    for stem in stems(name) {
      let files = try inStore { () throws(StoreError) in
        try store.recordings(
          named: path.folder.appending(stem).escaped, inbox: inbox, receivedSince: since)
      }
      for file in files {
        guard let recording = InboxPath(escaped: file.path)?.name,
          candidates(recording).contains(name)
        else { continue }
        return try note(file.note).map { ($0, file) }
      }
    }
    return nil
  }

  private func takeSidecar(
    _ path: InboxPath, _ stamp: FileStamp?, from folder: borrowing CustodyFolder
  ) throws(CustodyError) -> (taken: Taken, facts: Sidecar)? {
    do throws(CustodyError) {
      guard let taken = try take(path, stamp, as: .file, from: folder) else { return nil }
      let file = try folder.open(path)
      guard file.stamp == taken.stamp else { return nil }
      return (taken, try inInbox { () throws(InboxError) in try Sidecar(reading: file) })
    } catch {
      switch error.kind {
      // What is no file of bytes says nothing about a recording.
      case .link, .wrongKind, .special, .sparse, .denied: return nil
      default: throw error
      }
    }
  }

  /// A file whose bytes are in the store.
  struct Taken {
    let artifact: Artifact
    /// The version of the file that they were.
    let stamp: FileStamp
  }

  /// Brings a file's bytes into the store; nil where the file is another version, changes meanwhile
  /// or is gone.
  func take(
    _ path: InboxPath, _ stamp: FileStamp?, as kind: ArtifactKind,
    from folder: borrowing CustodyFolder
  ) throws(CustodyError) -> Taken? {
    do throws(CustodyError) {
      let file = try folder.open(path)
      guard stamp == nil || file.stamp == stamp else { return nil }
      let (digest, byteCount) = try file.digest()
      guard try inInbox({ () throws(InboxError) in try file.currentStamp() }) == file.stamp else {
        return nil
      }
      let artifact = Artifact(kind: kind, digest: digest, byteCount: byteCount)
      // What is there already was verified when it came.
      if (try? store.path(of: artifact)) == nil {
        let copied = try inStore { () throws(StoreError) in
          let draft = try store.makeDraft(kind)
          try store.copyFile(from: file.readingPath, to: draft.path)
          return try draft.seal()
        }
        guard copied == artifact else { return nil }
      }
      guard try inInbox({ () throws(InboxError) in try file.currentStamp() }) == file.stamp else {
        return nil
      }
      return Taken(artifact: artifact, stamp: file.stamp)
    } catch {
      if error.kind == .missing || error.kind == .changed { return nil }
      throw error
    }
  }
}

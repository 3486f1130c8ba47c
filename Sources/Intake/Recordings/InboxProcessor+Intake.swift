import PipelineModel
import Platform
import Store

extension InboxProcessor {
  /// The outcome of taking in a sidecar or a transcript that came by itself.
  enum CompanionOutcome: Hashable, Sendable {
    /// It belongs to this recording.
    case attached(Recording)
    /// The same, and so many of its files are held from now on.
    case sensitive(Recording, heldCount: Int)
    /// This recording has it already.
    case known(Recording)
    /// It has no recording yet, or it came too long ago: the later of the two brings the other.
    case waiting
    /// The recording of its name is done, and another one may come, or lies beside it.
    case held(Recording)
    /// The recording has another sidecar.
    case refused(RecordingRefusal)
    /// The sidecar is a transcript, and stays in place.
    case transcript
    /// The transcript's recording was processed without it, or is in progress.
    case late(Recording)
    /// The file has changed since it was stable, or is gone.
    case changed
  }

  /// Takes a stable file into the store: first its digest, then its bytes, flushed and verified,
  /// and then, in one transaction, its record.
  ///
  /// After an error or a crash the file is still in the inbox and can be taken in again.
  ///
  /// - Parameters:
  ///   - recording: as the watcher reported it.
  ///   - container: what its container declares.
  ///   - refusal: why it cannot be accepted; it is stored and quarantined then.
  /// - Returns: nil if the file has changed since it was stable, or is gone.
  func takeIn(
    _ recording: StableRecording, container: ContainerFacts? = nil, refusal: String? = nil
  ) throws(SpoolError) -> RecordingAdmission? {
    let folder = try ownFolder()
    guard let name = recording.path.name,
      let taken = try take(recording.path, recording.stamp, as: .sound, from: folder)
    else { return nil }
    var sidecar: (taken: Taken, facts: Sidecar)?
    if let path = recording.sidecar { sidecar = try takeSidecar(path, nil, from: folder) }
    // A file that is no sidecar becomes stable by itself, and is reported then.
    if sidecar?.facts.isTranscript == true { sidecar = nil }
    var arrival = RecordingArrival(
      pipeline: pipeline, inbox: inbox, path: recording.path.escaped,
      stamp: RecordingFileStamp(taken.stamp), fileName: name.description, recording: taken.artifact)
    if let sidecar, let path = recording.sidecar {
      arrival.sidecar = RecordingArrival.Companion(
        path: path.escaped, stamp: RecordingFileStamp(sidecar.taken.stamp),
        artifact: sidecar.taken.artifact)
    }
    arrival.transcripts = try takeTranscripts(of: recording, from: folder)
    if !arrival.transcripts.isEmpty,
      let known = try store.recordings.recording(of: taken.artifact.digest, pipeline: pipeline),
      !known.takesTranscripts
    {
      // Another text than its own stays, and is reported, as one that comes by itself.
      let own = try store.recordings.files(of: known.key).compactMap(\.companion)
      arrival.transcripts.removeAll { file in !own.contains { $0 == file.artifact } }
    }
    if let path = recording.marker, let stamp = try folder.stamp(of: path), stamp.isRegularFile {
      arrival.marker = RecordingArrival.Companion(
        path: path.escaped, stamp: RecordingFileStamp(stamp), artifact: nil)
    }
    let cut = try cutVersions(of: arrival)
    let inherited = try inherit(from: cut, for: &arrival, in: folder)
    let described = sidecar?.facts ?? inherited
    let facts = RecordingFacts(sidecar: described, container: container, name: name)
    arrival.deviceID = facts.noteID?.value.text
    arrival.deviceName = facts.noteID?.value.written
    arrival.facts = FactsText.json(
      facts, sidecar: described, transcript: transcript(of: arrival, described),
      doubt: recording.doubt, completing: cut.map(\.key))
    arrival.title = facts.title?.value
    arrival.tags = described?.tags ?? []
    arrival.refusal = refusal
    let admission = try store.recordings.admit(arrival, conflicts: rules.conflicts)
    if case .duplicate(let recording) = admission, !cut.isEmpty {
      let facts = FactsText.json(recording.facts, completing: cut.map(\.key))
      _ = try store.recordings.change(recording.key, .complete(facts: facts))
    }
    guard case .duplicate(var recording) = admission else { return admission }
    if let sidecar {
      recording = try fill(recording, from: sidecar.facts, of: sidecar.taken) ?? recording
    }
    if let text = arrival.transcripts.first.flatMap({ InboxPath(escaped: $0.path)?.name }),
      recording.takesTranscripts, StoredFacts(of: recording).transcript == nil
    {
      let facts = FactsText.json(recording.facts, addingTranscript: text.description)
      let change = try change(recording.key, .attachTranscript(facts: facts))
      recording = change?.recording ?? recording
    }
    return .duplicate(of: recording)
  }

  /// Takes in a sidecar that came by itself, for the recording beside it if that was received
  /// recently.
  /// - Parameters:
  ///   - stamp: the version that was stable.
  ///   - mayWait: whether it waits for a new recording where the one of its name is done.
  func takeSidecar(
    at path: InboxPath, stamp: FileStamp, mayWait: Bool = false
  ) throws(SpoolError) -> CompanionOutcome {
    let folder = try ownFolder()
    if try isTranscript(path, stamp, in: folder) { return .transcript }
    guard
      let (recording, file) = try recipient(of: path)
    else { return .waiting }
    guard let (taken, sidecar) = try takeSidecar(path, stamp, from: folder) else { return .changed }
    let isRepeated = recording.sidecar == taken.artifact
    let isKnown = try store.recordings.isKnown(
      path: path.escaped, stamp: RecordingFileStamp(taken.stamp), inbox: inbox)
    let isInherited = try hasInheritedSidecar(recording)
    // The recording has left the inbox with its own: this one comes ahead of another one, such as
    // the same sent again because it was not whole.
    if isRepeated, !isKnown, file.hasLeft, !isInherited { return .waiting }
    // It is another recording's, which has not come yet or is being written.
    let isForeign =
      sidecar.noteID.map { id in recording.deviceID.map { $0 != id.text } ?? false } ?? false
    let isCopy = try isCopy(file)
    let isNamed = sidecar.noteID != nil && sidecar.noteID?.text == recording.deviceID
    if !isKnown, !isNamed {
      if isHeld(path, from: recording, file, mayWait: mayWait) { return .held(recording) }
      if isDone(recording, file), !FactsText.mayBe(sidecar, of: recording) { return .waiting }
    }
    var changed = recording
    if isForeign || (recording.sidecar != nil && !isRepeated && isCopy) {
      // The copy's own sidecar, which came after it.
      guard isCopy, FactsText.mayBe(sidecar, of: recording) else { return .waiting }
      if isForeign, let id = sidecar.noteID {
        guard
          let named = try store.recordings.addAlias(id.text, written: id.written, to: file)
        else { return .waiting }
        changed = named
      }
      changed = try fill(changed, from: sidecar, of: taken) ?? changed
    } else if !isRepeated {
      let late = LateSidecar(
        taken.artifact, saying: sidecar, of: recording,
        isReplacing: FactsText.hasUnreadableSidecar(recording.facts)
          || isInherited && recording.state == .received || recording.state == .quarantined)
      switch try change(recording.key, .attach(late)) {
      case .changed(let recording): changed = recording
      case .refused:
        let held = sidecar.isSensitive ? try markSensitive(recording) : 0
        return .refused(
          RecordingRefusal(
            reason: "it is left at \(fullPath(path)): "
              + words(
                ignoring: fields(of: sidecar, ignoredBy: recording) ?? [], by: recording)
              + (held == 0 ? "" : "; " + words(holding: held, of: recording))))
      case nil: return .waiting
      }
    }
    // Before it is known, so that a crash between has it taken in again.
    let heldCount = try holdIfSensitive(changed)
    if !isKnown {
      try store.recordings.addFile(
        .sidecar, path: path.escaped, stamp: RecordingFileStamp(taken.stamp),
        digest: taken.artifact.digest, inbox: inbox, to: recording.key)
    }
    if heldCount > 0 { return .sensitive(changed, heldCount: heldCount) }
    return isRepeated ? .known(changed) : .attached(changed)
  }

  /// Holds what is on its way of a recording that is sensitive, and was not known to be.
  /// - Returns: how many files there were.
  func holdIfSensitive(_ recording: Recording) throws(SpoolError) -> Int {
    guard StoredFacts(of: recording).isSensitive else { return 0 }
    return try store.deliveries.hold(for: .recording(recording.original ?? recording.key))
  }

  /// Has a recording be sensitive by a sidecar that is not used otherwise.
  /// - Returns: how many files are held from now on.
  private func markSensitive(_ recording: Recording) throws(SpoolError) -> Int {
    guard let own = recording.sidecar, !StoredFacts(of: recording).isSensitive else {
      return try holdIfSensitive(recording)
    }
    let late = LateSidecar(
      own, facts: FactsText.json(addingSensitivityTo: recording.facts), tags: recording.tags,
      isReplacing: true)
    let change = try change(recording.key, .attach(late))
    return try holdIfSensitive(change?.recording ?? recording)
  }

  /// What has become of the files of a recording that is sensitive now.
  func words(holding count: Int, of recording: Recording) -> String {
    "it is sensitive now: \(count) \(count == 1 ? "file" : "files") on the way to destinations "
      + "\(count == 1 ? "is" : "are") held until "
      + option.completing("\(command: .deliverRelease) \(recording.key)")
  }

  /// Whether the stable version of a file is a transcript.
  private func isTranscript(
    _ path: InboxPath, _ stamp: FileStamp, in folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> Bool {
    do throws(SpoolError) {
      let file = try folder.open(path)
      guard file.stamp == stamp else { return false }
      return try file.isTranscript()
    } catch {
      // Taking it in reports what is wrong with it.
      if [.missing, .changed].contains(error.kind) || error.isOfUnusableFile { return false }
      throw error
    }
  }

  /// Fills in what the recording lacks from a copy's sidecar, and records contradictions.
  /// - Returns: the recording, if that changed it.
  private func fill(
    _ recording: Recording, from sidecar: Sidecar, of taken: Taken
  ) throws(SpoolError) -> Recording? {
    guard sidecar.isReadable, recording.sidecar != taken.artifact else { return nil }
    let (facts, isChanged) = FactsText.json(
      recording.facts, title: recording.title, tags: recording.tags, filledBy: sidecar)
    // The first one counts whatever it says, while there is time.
    let isFirst = recording.sidecar == nil && recording.state == .received
    guard isChanged || isFirst else { return nil }
    // It keeps its own sidecar.
    let late = LateSidecar(
      recording.sidecar ?? taken.artifact, facts: facts,
      title: recording.title == nil ? sidecar.title : nil, tags: sidecar.tags, isReplacing: true)
    return try change(recording.key, .attach(late))?.recording
  }

  /// Whether a file is a copy of a recording that was already there.
  func isCopy(_ file: RecordingFile) throws(SpoolError) -> Bool {
    let first = try store.recordings.files(of: file.recording).filter { $0.role == .recording }.map(
      \.id
    ).min()
    return first.map { $0 < file.id } ?? false
  }

  private func takeSidecar(
    _ path: InboxPath, _ stamp: FileStamp?, from folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> (taken: Taken, facts: Sidecar)? {
    do throws(SpoolError) {
      guard let taken = try take(path, stamp, as: .file, from: folder) else { return nil }
      let file = try folder.open(path)
      guard file.stamp == taken.stamp else { return nil }
      return (taken, try Sidecar(reading: file))
    } catch {
      // It says nothing about a recording.
      if error.isOfUnusableFile { return nil }
      throw error
    }
  }

  /// A file's bytes in the store, and the version that they are of.
  typealias Taken = (artifact: Artifact, stamp: FileStamp)

  /// Copies a file's bytes into the store; nil if the file is another version, changes meanwhile or
  /// is gone.
  func take(
    _ path: InboxPath, _ stamp: FileStamp?, as kind: ArtifactKind,
    from folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> Taken? {
    do throws(SpoolError) {
      let file = try folder.open(path)
      guard stamp == nil || file.stamp == stamp else { return nil }
      let (digest, byteCount) = try file.digest(until: stop)
      guard try file.currentStamp() == file.stamp else { return nil }
      let artifact = Artifact(kind: kind, digest: digest, byteCount: byteCount)
      // An artifact that is already there was verified when it came.
      if (try? store.path(of: artifact)) == nil {
        let draft = try store.makeDraft(kind)
        try store.copyFile(from: file.readingPath, to: draft.path)
        guard try draft.seal() == artifact else { return nil }
      }
      guard try file.currentStamp() == file.stamp else { return nil }
      return (artifact, file.stamp)
    } catch {
      if error.kind == .missing || error.kind == .changed { return nil }
      throw error
    }
  }
}

extension SpoolError {
  /// Whether a file is no regular file, or cannot be read.
  var isOfUnusableFile: Bool {
    switch kind {
    case .link, .wrongKind, .special, .sparse, .denied: true
    default: false
    }
  }
}

extension ArrivedFile {
  /// Whether it holds timed words as JSON rather than a device's fields. A transcript may be longer
  /// than a sidecar: only its beginning is read.
  func isTranscript() throws(SpoolError) -> Bool {
    if stamp.byteCount <= Int64(Sidecar.byteLimit) {
      return try Sidecar(reading: self).isTranscript
    }
    return TranscriptSign.isTranscript(try head(count: TranscriptSign.byteLimit))
  }
}

extension Sidecar {
  /// Reads an open sidecar. Bad content is among its problems and throws nothing.
  /// - Throws: an `SpoolError` if the file cannot be read.
  init(reading file: borrowing ArrivedFile) throws(SpoolError) {
    do {
      self.init(json: try file.bytes(atMost: Self.byteLimit))
    } catch {
      guard error.kind == .tooLarge else { throw error }
      self.init(tooLong: Int(file.stamp.byteCount))
    }
  }
}

extension DiskStore {
  /// Has a quarantined recording take its sidecar again, if a person has put another one into the inbox or
  /// corrected it where it lies in quarantine. Without such a sidecar, or with one that does not read,
  /// nothing changes.
  func retakeSidecar(of recording: Recording) throws(SpoolError) {
    guard recording.state == .quarantined else { return }
    let files = try recordings.files(of: recording.key)
    if try takeWaitingSidecar(of: recording, files) { return }
    guard let own = recording.sidecar,
      let file = files.last(where: { $0.role == .sidecar && $0.place == .quarantine }),
      let path = InboxPath(escaped: file.location),
      let folder = try? ProcessedFolder(at: file.inbox),
      let arrived = try? folder.open(path), RecordingFileStamp(arrived.stamp) != file.stamp,
      let read = try? Sidecar(reading: arrived), read.isReadable, !read.isTranscript
    else { return }
    guard let artifact = try keep(arrived), artifact != own else { return }
    let late = LateSidecar(artifact, saying: read, of: recording, isReplacing: true)
    guard case .changed = try recordings.change(recording.key, .attach(late)) else { return }
    // It goes with the recording from there, under its name; the first one was overwritten.
    try recordings.settle(file, .gone, at: file.location, stamp: nil)
    try recordings.addFile(
      .sidecar, path: file.path, stamp: RecordingFileStamp(arrived.stamp), digest: artifact.digest,
      inbox: file.inbox, place: .quarantine, location: file.location, to: recording.key)
  }

  /// Takes in the sidecar that lies in the inbox for a quarantined recording, which its watch has not
  /// taken in yet.
  /// - Returns: whether there is one.
  private func takeWaitingSidecar(
    of recording: Recording, _ files: [RecordingFile]
  ) throws(SpoolError) -> Bool {
    guard let file = files.first(where: { $0.role == .recording }),
      let arrival = InboxPath(escaped: file.path), let name = arrival.name,
      let folder = try? ProcessedFolder(at: file.inbox)
    else { return false }
    for candidate in SidecarName.candidates(for: name) {
      let path = arrival.folder.appending(candidate)
      guard let arrived = try? folder.open(path),
        try !recordings.isKnown(
          path: path.escaped, stamp: RecordingFileStamp(arrived.stamp), inbox: file.inbox),
        let read = try? Sidecar(reading: arrived), read.isReadable, !read.isTranscript,
        read.noteID == nil || recording.deviceID == nil || read.noteID?.text == recording.deviceID,
        let artifact = try keep(arrived), artifact != recording.sidecar
      else { continue }
      let late = LateSidecar(artifact, saying: read, of: recording, isReplacing: true)
      guard case .changed = try recordings.change(recording.key, .attach(late)) else { continue }
      try recordings.addFile(
        .sidecar, path: path.escaped, stamp: RecordingFileStamp(arrived.stamp),
        digest: artifact.digest, inbox: file.inbox, to: recording.key)
      return true
    }
    return false
  }

  /// The bytes of a small file; nil if it changes meanwhile.
  func keep(_ arrived: borrowing ArrivedFile) throws(SpoolError) -> Artifact? {
    let draft = try makeDraft(.file)
    try copyFile(from: arrived.readingPath, to: draft.path)
    let artifact = try draft.seal()
    return try arrived.currentStamp() == arrived.stamp ? artifact : nil
  }
}

extension LateSidecar {
  /// What a sidecar says of a recording that was taken in before.
  fileprivate init(
    _ artifact: Artifact, saying sidecar: Sidecar, of recording: Recording, isReplacing: Bool
  ) {
    // A title that the user has given since takes precedence.
    let isRenamed = recording.title != FactsText.title(in: recording.facts)
    self.init(
      artifact, deviceID: sidecar.noteID?.text, deviceName: sidecar.noteID?.written,
      facts: FactsText.json(
        recording.facts, adding: sidecar, isReplacing: isReplacing),
      title: isRenamed ? nil : sidecar.title, tags: sidecar.tags, isReplacing: isReplacing)
  }
}

package import PipelineModel
package import Platform
package import Store

extension InboxProcessor {
  /// A hundred hours of timed words have fewer bytes.
  private static var transcriptLimit: Int64 { 256 << 20 }

  /// Takes in a transcript that came by itself, for the recording beside it if that was received
  /// recently and is not processed yet.
  /// - Parameters:
  ///   - stamp: the version that was stable.
  ///   - mayWait: whether it waits for a new recording where the one of its name is done.
  func takeTranscript(
    at path: InboxPath, stamp: FileStamp, mayWait: Bool = false
  ) throws(SpoolError) -> CompanionOutcome {
    guard stamp.byteCount <= Self.transcriptLimit else {
      throw SpoolError(
        "take in", path.description, reason: "no transcript holds \(stamp.byteCount) bytes",
        kind: .tooLarge)
    }
    var recipient = try recipient(of: path)
    if recipient == nil { recipient = try recording(naming: path) }
    guard let (recording, file) = recipient else { return .waiting }
    if try takeLost(path, stamp, of: recording) { return .known(recording) }
    if isHeld(path, from: recording, file, mayWait: mayWait) { return .held(recording) }
    guard recording.takesTranscripts else { return .late(recording) }
    guard let taken = try take(path, stamp, as: .file, from: try ownFolder()) else {
      return .changed
    }
    // As with sidecars: the recording has left with the same text, and another one comes.
    if file.hasLeft,
      try store.recordings.files(of: recording.key).contains(where: {
        $0.role == .transcript && $0.companion == taken.artifact && $0.path == path.escaped
          && $0.hasLeft
      })
    {
      return .waiting
    }
    // The pipeline reads what the sidecar or the recording brought; this may precede it.
    let facts = FactsText.json(
      recording.facts, addingTranscript: path.name?.description ?? path.description)
    switch try change(recording.key, .attachTranscript(facts: facts)) {
    case .changed(let changed):
      try store.recordings.addFile(
        .transcript, path: path.escaped, stamp: RecordingFileStamp(taken.stamp),
        digest: taken.artifact.digest, inbox: inbox, to: recording.key)
      return .attached(changed)
    case .refused: return .late(recording)
    case nil: return .waiting
    }
  }

  /// Takes in a transcript again that the store has lost.
  /// - Returns: whether it is one.
  private func takeLost(
    _ path: InboxPath, _ stamp: FileStamp, of recording: Recording
  ) throws(SpoolError) -> Bool {
    let lost = try store.recordings.files(of: recording.key)
      .filter { $0.role == .transcript && $0.stamp.byteCount == stamp.byteCount }
      .compactMap(\.companion).filter { (try? store.path(of: $0)) == nil }
    guard !lost.isEmpty, let taken = try take(path, stamp, as: .file, from: try ownFolder()),
      lost.contains(taken.artifact)
    else { return false }
    try store.recordings.addFile(
      .transcript, path: path.escaped, stamp: RecordingFileStamp(taken.stamp),
      digest: taken.artifact.digest, inbox: inbox, to: recording.key)
    return true
  }

  /// Copies the possible transcripts of a recording into the store. The watcher reports those that
  /// are no regular file, have changed or are gone.
  func takeTranscripts(
    of recording: StableRecording, from folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> [RecordingArrival.Companion] {
    var companions: [RecordingArrival.Companion] = []
    for path in recording.transcripts {
      do throws(SpoolError) {
        guard let stamp = try folder.stamp(of: path), stamp.byteCount <= Self.transcriptLimit,
          let taken = try take(path, stamp, as: .file, from: folder)
        else { continue }
        companions.append(
          RecordingArrival.Companion(
            path: path.escaped, stamp: RecordingFileStamp(taken.stamp), artifact: taken.artifact))
      } catch {
        if !error.isOfUnusableFile { throw error }
      }
    }
    return companions
  }

  /// The name of a recording's transcript; nil if it has none.
  func transcript(of arrival: RecordingArrival, _ sidecar: Sidecar?) -> String? {
    func inherited(_ role: RecordingFile.Role) -> [String] {
      arrival.inherited.filter { $0.role == role }.map(\.path)
    }
    let files = (arrival.transcripts.map(\.path) + inherited(.transcript))
      .compactMap { InboxPath(escaped: $0)?.name }
    switch sidecar?.transcript(exists: files.contains) {
    case .file(let name): return name.description
    case .itself:
      return (arrival.sidecar?.path ?? inherited(.sidecar).first)
        .flatMap { InboxPath(escaped: $0)?.name?.description }
    case .missing, nil: return files.first?.description
    }
  }
}

extension Recording {
  /// Whether a transcript that comes now is used.
  var takesTranscripts: Bool { [.received, .failed, .quarantined].contains(state) }

  /// The folder for its original, where that is given back: nothing else is in it.
  fileprivate var originalFolder: String { "original-\(key)" }

  /// The command that gives its original back, with what came with it.
  package var exportCommand: String {
    "\(command: .inboxExport) \(key) \(option: .to) \(originalFolder)"
  }

  /// How its watch does it again, for people.
  /// - Parameter exception: what is not to be delivered, in words.
  package func wayOfRepeating(_ option: StoreOption, without exception: String? = nil) -> String {
    let forget = option.completing("\(command: .inboxForget) \(key)")
    return "\(option.completing(exportCommand)), then \(forget), and deliver again what the first "
      + "gave back\(exception.map { " (not \($0))" } ?? ""), a sidecar first"
  }
}

extension InboxProcessor {
  /// The absolute path of a file in the inbox.
  func fullPath(_ path: InboxPath) -> String { inbox + "/" + path.description }
}

extension DiskStore {
  /// The command that corrects the words that were found in a processed recording, or with a text, the one
  /// that runs its pipeline with it: words of a recogniser, or of a wrong text, may have little in common
  /// with what was said. Nil if it is not processed, or no words were found.
  /// - Parameter file: the text that is the correction; nil for what the user types.
  package func wordsCorrection(of recording: Recording, from file: String? = nil) -> String? {
    guard recording.state == .uploaded,
      let run = try? runs.lastRun(of: recording.content.digest, pipeline: recording.pipeline),
      run.state == .done,
      run.steps.contains(where: { $0.outputs.values.contains { $0.kind == .transcript } })
    else { return nil }
    if let file {
      if let line = repetition(of: run, recording, adding: file) { return line }
      // Words that stand at their places can be corrected.
      let isAligned = run.steps.contains { $0.kind == "align" && !$0.outputs.isEmpty }
      guard isAligned else { return nil }
    }
    let source = file.map { " \(option: .from) \(ShellWords.line([$0]))" } ?? ""
    return "\(command: .wordsEdit) \(run.id)\(source)"
  }

  /// How a recording or its transcript arrived that lies where the watch of its inbox has put it; nil for
  /// any other file. O(files).
  /// - Parameter path: an absolute path without links.
  package func origin(ofFileAt path: String) throws(SpoolError) -> RecordingOrigin? {
    for file in try recordings.files(at: path) {
      guard let recording = try recordings.recording(file.recording) else { continue }
      let files = try recordings.files(of: recording.key)
      let origin = RecordingOrigin(
        of: recording, files, sidecar: try availableSidecar(of: recording, files))
      guard file.role == .transcript else { return origin }
      return origin.ofText(named: InboxPath(escaped: file.path)?.name?.description ?? path)
    }
    return nil
  }

  /// A recording's sidecar, taken in again where the store has lost it and the file lies where the watch
  /// has put it; nil if it has none, or it is nowhere.
  private func availableSidecar(
    of recording: Recording, _ files: [RecordingFile]
  ) throws(SpoolError) -> Artifact? {
    guard let own = recording.sidecar else { return nil }
    if (try? path(of: own)) != nil { return own }
    guard let bytes = lyingSidecar(own, files), isWritable else { return nil }
    return try keep(bytes, as: .file)
  }

  /// The bytes of a recording's sidecar; nil if it has none, or they are nowhere.
  private func sidecarBytes(of recording: Recording, _ files: [RecordingFile]) -> [UInt8]? {
    guard let own = recording.sidecar else { return nil }
    return (try? bytes(of: own)) ?? lyingSidecar(own, files)
  }

  private func lyingSidecar(_ own: Artifact, _ files: [RecordingFile]) -> [UInt8]? {
    for file in files where file.role == .sidecar && file.isInPlace {
      guard
        let bytes = try? FileOperations.system.beginning(
          of: file.printablePath, byteCount: Sidecar.byteLimit),
        SHA256.digest(of: bytes) == own.digest
      else { continue }
      return bytes
    }
    return nil
  }

  /// The command that does the run of an inbox's recording again with all settings of its watch and its
  /// sidecar, so that its exports take the place of the first ones, behind the one that gives its original
  /// back where that is deleted. Nil where none does: the original is lost, or its exports have another
  /// name than it would give them.
  /// - Parameter text: its transcript.
  package func repetition(
    of run: RunRecord, _ recording: Recording, adding text: String? = nil
  ) -> String? {
    let files = (try? recordings.files(of: recording.key)) ?? []
    let exported = Set(run.inputs.values.map { ExportName.stem(of: $0) })
    let kept = files.filter { file in
      [.accepted, .left].contains(file.place) && file.isThere(recording.content)
    }
    let original = Self.originalName(of: recording, files.first { $0.role == .recording })
    let isKept = !kept.isEmpty
    let place =
      (isKept ? kept.map(\.printablePath) : ["\(recording.originalFolder)/\(original)"])
      .first { exported.contains(ExportName.stem(of: $0)) }
    guard run.pipelinePath.hasPrefix("/"), let request = run.request, request.names == nil,
      let place,
      isKept || hasIntactOriginal(of: recording)
    else { return nil }
    let sidecar = sidecarBytes(of: recording, files).map { Sidecar(json: $0).settings }
    // It may set what the run must have.
    if recording.sidecar != nil, sidecar == nil { return nil }
    let line = run.line(of: [place] + [text].compactMap(\.self), setting: sidecar ?? [:])
    if isKept { return line }
    return "\(recording.exportCommand) && \(line)"
  }
}

extension RunRecord {
  /// The command line of the run.
  /// - Parameters:
  ///   - files: in the place of its own.
  ///   - variables: overrides besides its own, or instead of them.
  ///   - words: options at its end.
  package func line(
    of files: [String]? = nil, setting variables: [String: String] = [:],
    adding words: [String] = []
  ) -> String {
    let own = orderedInputs.map { "\($0.name)=\($0.path)" } + declinedTexts.map { "\($0)=" }
    var line = [pipelinePath] + (files ?? own)
    let overrides = overrides.merging(variables) { $1 }
    for (name, value) in overrides.sorted(by: { $0.key < $1.key }) {
      line += ["\(option: .set)", "\(name)=\(value)"]
    }
    if let folder = request?.folder { line += ["\(option: .out)", folder] }
    line += request?.signing?.options ?? []
    return "\(command: .run) " + ShellWords.line(line + words)
  }

  /// The transcripts that it did without, where another run would take what lies beside a recording.
  private var declinedTexts: [String] {
    let definition = request.flatMap { ParsedPipeline($0.pipelineText).definition }
    let texts = definition?.inputs.filter { $0.kind == .transcript && inputs[$0.name] == nil } ?? []
    if texts.isEmpty { return [] }
    let isBeside = inputs.values.contains { Companions(besides: $0)?.isEmpty == false }
    return isBeside ? texts.map(\.name) : []
  }
}

/// What a sidecar asks that comes for a recording that has another one.
extension InboxProcessor {
  /// The fields of a copy's sidecar that its recording does not take; nil if there are none.
  func ignoredFields(ofSidecarAt path: InboxPath?, by recording: Recording) -> [String]? {
    guard let path, let folder = try? ownFolder(), let file = try? folder.open(path),
      let sidecar = try? Sidecar(reading: file), sidecar.isReadable, !sidecar.isTranscript
    else { return nil }
    // A copy's own noteId is kept as another name of the recording.
    let fields = fields(of: sidecar, ignoredBy: recording)?.filter { $0 != "noteId" } ?? []
    return fields.isEmpty ? nil : fields
  }

  /// The fields that the recording's own sidecar has not, or with another value; nil for none.
  func fields(of sidecar: Sidecar, ignoredBy recording: Recording) -> [String]? {
    let own =
      recording.sidecar.flatMap { try? store.bytes(of: $0) }.map { Sidecar(json: $0).written }
      ?? [:]
    let names = sidecar.written.filter { own[$0.key] != $0.value }.keys.sorted()
    return names.isEmpty ? nil : names
  }

  /// Why fields of another sidecar than a recording's change nothing, and what does.
  func words(ignoring fields: [String], by recording: Recording) -> String {
    let said = fields.isEmpty ? "" : " (\(fields.joined(separator: ", ")))"
    let reason =
      recording.sidecar == nil
      ? "\(recording.fileName) came without a sidecar, and what this one says\(said), which came with a "
        + "copy of it, is not used"
      : "\(recording.fileName) has its sidecar already, so what this one says\(said) is ignored"
    return "\(reason); \(wayOfDoingAgain(recording))"
  }

  /// How a recording is done again with a file that came too late.
  func wayOfDoingAgain(_ recording: Recording) -> String {
    let forget = option.completing("\(command: .inboxForget) \(recording.key)")
    return
      "to do the recording again with it, \(rules.bringingBack(recording.key, option: option))type "
      + "\(forget), and deliver both again"
  }
}

extension RecordingOrigin {
  /// - Parameter files: those of the recording.
  init(of recording: Recording, _ files: [RecordingFile]) {
    self.init(of: recording, files, sidecar: recording.sidecar)
  }

  /// - Parameters:
  ///   - files: those of the recording.
  ///   - artifact: its sidecar, where that can be told.
  fileprivate init(of recording: Recording, _ files: [RecordingFile], sidecar artifact: Artifact?) {
    let sidecar =
      artifact == nil
      ? nil : files.first { $0.role == .sidecar }.flatMap { InboxPath(escaped: $0.path) }
    self.init(
      name: recording.fileName, inbox: recording.inbox, arrivedAt: recording.receivedAt,
      sidecarName: sidecar?.name?.text, sidecar: artifact, noteID: recording.shownID)
  }

  /// The origin of a text that came with the recording.
  func ofText(named name: String) -> RecordingOrigin {
    RecordingOrigin(
      name: name, inbox: inbox, arrivedAt: arrivedAt, sidecarName: nil, sidecar: nil)
  }
}

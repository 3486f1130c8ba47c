import PipelineModel
package import Platform
package import Store

/// Transcripts that sidecars name and that come later than their recordings.
extension InboxProcessor {
  /// The recording whose sidecar names a transcript of this name in its folder, which has not come, and its
  /// file; nil if there is none. O(recordings that are not done).
  func recording(
    naming path: InboxPath
  ) throws(SpoolError) -> (recording: Recording, file: RecordingFile)? {
    let unfinished = try store.recordings.matching(
      RecordingQuery(
        states: [.received, .failed, .quarantined], pipeline: pipeline, limit: .max))
    for recording in unfinished where recording.inbox == inbox {
      if let missing = try store.missingTranscript(of: recording), missing.path == path {
        return (recording, missing.file)
      }
    }
    return nil
  }
}

extension DiskStore {
  /// Where in its inbox the transcript belongs that a recording's sidecar names and that has not come, and
  /// the recording's file; nil if none is missing.
  func missingTranscript(
    of recording: Recording
  ) throws(SpoolError) -> (path: InboxPath, file: RecordingFile)? {
    guard let own = recording.sidecar, own.byteCount <= Sidecar.byteLimit,
      let bytes = try? bytes(of: own)
    else { return nil }
    let files = try recordings.files(of: recording.key)
    let names = files.filter { $0.role == .transcript }
      .compactMap { InboxPath(escaped: $0.path)?.name }
    guard case .missing(let text)? = Sidecar(json: bytes).transcript(exists: names.contains),
      let name = FileName(text), let file = files.first(where: { $0.role == .recording }),
      let arrival = InboxPath(escaped: file.path)
    else { return nil }
    return (arrival.folder.appending(name), file)
  }

  /// Has a recording that is to be done again take what a person has added to it since: another sidecar,
  /// and the transcript that its sidecar names.
  package func retakeCompanions(of recording: Recording) throws(SpoolError) {
    try retakeSidecar(of: recording)
    if let changed = try recordings.recording(recording.key) {
      try takeNamedTranscript(of: changed)
    }
  }

  /// Takes in the transcript that a recording's sidecar names, where it lies in the inbox beside the place
  /// of its arrival, or beside it in quarantine.
  private func takeNamedTranscript(of recording: Recording) throws(SpoolError) {
    guard recording.takesTranscripts,
      let (path, file) = try missingTranscript(of: recording), let name = path.name,
      let folder = try? ProcessedFolder(at: file.inbox)
    else { return }
    var places = [(path, RecordingFile.Place.inbox)]
    if file.place == .quarantine, let location = InboxPath(escaped: file.location) {
      places.append((location.folder.appending(name), .quarantine))
    }
    for (location, place) in places {
      guard let arrived = try? folder.open(location), let artifact = try keep(arrived) else {
        continue
      }
      let facts = FactsText.json(recording.facts, addingTranscript: name.description)
      let change = try recordings.change(recording.key, .attachTranscript(facts: facts))
      guard case .changed = change else { return }
      return try recordings.addFile(
        .transcript, path: path.escaped, stamp: RecordingFileStamp(arrived.stamp),
        digest: artifact.digest, inbox: file.inbox, place: place, location: location.escaped,
        to: recording.key)
    }
  }
}

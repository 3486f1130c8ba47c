internal import PipelineModel
internal import Sidecars

extension Custody {
  /// A transcript of more bytes is nobody's: a hundred hours of words with their times have fewer.
  private static var transcriptLimit: Int64 { 256 << 20 }

  /// Takes in a transcript that came by itself, for the recording beside it if that was received
  /// lately and is not processed yet.
  /// - Parameter stamp: the version that settled.
  public func takeTranscript(
    at path: InboxPath, stamp: FileStamp
  ) throws(CustodyError) -> CustodyTranscript {
    guard stamp.byteCount <= Self.transcriptLimit else {
      throw CustodyError(
        "take in", path.description, reason: "no transcript holds \(stamp.byteCount) bytes",
        kind: .tooLarge)
    }
    let (stems, candidates) = Self.names(ofRecordingsOf: path)
    guard let (note, _) = try recipient(of: path, stems: stems, candidates: candidates) else {
      return .waiting
    }
    guard [.received, .failed, .quarantined].contains(note.state) else { return .late(note) }
    guard let taken = try take(path, stamp, as: .file, from: try ownFolder()) else {
      return .changed
    }
    // What the sidecar or the recording brought is what the pipeline reads; this may be its better.
    let facts = CustodyFacts.json(
      note.facts, addingTranscript: path.name?.description ?? path.description)
    switch try change(note.key, .attachTranscript(facts: facts)) {
    case .changed(let changed):
      try inStore { () throws(StoreError) in
        try store.addFile(
          .transcript, path: path.escaped, stamp: NoteFileStamp(taken.stamp),
          digest: taken.artifact.digest, inbox: inbox, to: note.key)
      }
      return .attached(changed)
    case .refused: return .late(note)
    case nil: return .waiting
    }
  }

  /// Brings what may be the transcript of a recording into the store. What is no file of bytes, has
  /// changed or is gone is left to the watcher, who tells of it.
  func takeTranscripts(
    of recording: SettledRecording, from folder: borrowing CustodyFolder
  ) throws(CustodyError) -> [NoteArrival.Companion] {
    var companions: [NoteArrival.Companion] = []
    for path in recording.transcripts {
      do throws(CustodyError) {
        guard let stamp = try folder.stamp(of: path), stamp.byteCount <= Self.transcriptLimit,
          let taken = try take(path, stamp, as: .file, from: folder)
        else { continue }
        companions.append(
          NoteArrival.Companion(
            path: path.escaped, stamp: NoteFileStamp(taken.stamp), artifact: taken.artifact))
      } catch {
        switch error.kind {
        case .link, .wrongKind, .special, .sparse, .denied: break
        default: throw error
        }
      }
    }
    return companions
  }

  /// The name of the file in which lies what is said in a recording; nil where none does.
  func transcript(of arrival: NoteArrival, _ sidecar: Sidecar?) -> String? {
    let files = arrival.transcripts.compactMap { InboxPath(escaped: $0.path)?.name }
    switch sidecar?.transcript(exists: files.contains) {
    case .file(let name): return name.description
    case .itself: return arrival.sidecar.flatMap { InboxPath(escaped: $0.path)?.name?.description }
    case nil: return files.first?.description
    }
  }

  /// What recordings of a transcript may be called, and what their transcripts may.
  private static func names(
    ofRecordingsOf path: InboxPath
  ) -> (stems: (FileName) -> [FileName], candidates: (FileName) -> [FileName]) {
    if path.name?.hasSuffix(".json") == true {
      return (SidecarName.recordingStems, SidecarName.candidates)
    }
    return (TranscriptName.recordingStems, TranscriptName.candidates)
  }
}

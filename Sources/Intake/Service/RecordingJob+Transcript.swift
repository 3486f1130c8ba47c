import PipelineModel
internal import Platform
import Store

extension RecordingJob {
  /// The transcript that the pipeline gets with a recording; nil if it has none, or the pipeline takes
  /// none.
  /// - Parameters:
  ///   - files: those of the recording, the oldest first.
  ///   - sidecar: the recording's sidecar and its bytes; nil if it has none.
  /// - Throws: where the sidecar names a transcript that has not come and no other one came, unless a
  ///   person has released the recording since.
  func transcript(
    of recording: Recording, among files: [RecordingFile],
    sidecar: (artifact: Artifact, bytes: [UInt8])?
  ) throws(SpoolError) -> Transcript? {
    if settings.pipeline.transcriptInput == nil { return nil }
    let transcript = Transcript(among: files, sidecar: sidecar)
    guard let sidecar,
      case .missing(let text)? = Sidecar(json: sidecar.bytes).transcript(exists: { name in
        files.contains {
          $0.role == .transcript && InboxPath(escaped: $0.path)?.name == name
        }
      })
    else { return transcript }
    let message = Sidecar.complaint(naming: text)
    if let transcript {
      tell(.warning, text: "\(message): \(transcript.name) is used")
      return transcript
    }
    let place = try engine.store.missingTranscript(of: recording)?.path
    let retry = engine.option.completing("\(command: .inboxRetry) \(recording.key)")
    let error = SpoolError(
      message,
      reason: place.map { "put that text at \(settings.path)/\($0), and \(retry) uses it" }
        ?? "correct the field transcript in the sidecar, and \(retry) takes it again")
    let events = try engine.store.recordings.events(of: recording.key)
    if events.isReleased(from: error.account) { return nil }
    throw error
  }
}

extension RecordingJob {
  /// A recording's transcript: a file that came with it, or its sidecar.
  struct Transcript {
    /// Its bytes, in the store.
    let artifact: Artifact
    /// The name of the file as it arrived, printable.
    let name: String
    /// The file's name for the pipeline, which decides by the ending.
    let fileName: String

    /// Chooses among what came with a recording: what the sidecar names, then what lay beside the
    /// recording, in the order of ``TranscriptName``, and of one file its newest version.
    /// - Parameters:
    ///   - files: those of the recording, the oldest first.
    ///   - sidecar: the recording's sidecar and its bytes; nil if it has none.
    init?(among files: [RecordingFile], sidecar: (artifact: Artifact, bytes: [UInt8])?) {
      func name(_ file: RecordingFile) -> FileName? { InboxPath(escaped: file.path)?.name }
      var found: [FileName: Artifact] = [:]
      for file in files where file.role == .transcript {
        if let name = name(file), let artifact = file.companion { found[name] = artifact }
      }
      let place = sidecar.flatMap { sidecar in
        Sidecar(json: sidecar.bytes).transcript { found[$0] != nil }
      }
      switch place {
      case .file(let name):
        guard let artifact = found[name] else { return nil }
        self.init(artifact, name)
      case .itself:
        guard let sidecar else { return nil }
        self.init(sidecar.artifact, files.last { $0.role == .sidecar }.flatMap(name))
      case .missing, nil:
        // Behind its own, what came with a copy of another name.
        let candidates = files.filter { $0.role == .recording }.compactMap(name).flatMap {
          TranscriptName.candidates(for: $0) + SidecarName.candidates(for: $0)
        }
        guard let name = candidates.first(where: { found[$0] != nil }), let artifact = found[name]
        else { return nil }
        self.init(artifact, name)
      }
    }

    private init(_ artifact: Artifact, _ name: FileName?) {
      self.artifact = artifact
      self.name = name?.description ?? "the sidecar"
      fileName = "transcript" + (name.map { RecordingName($0).ending } ?? ".json")
    }
  }
}

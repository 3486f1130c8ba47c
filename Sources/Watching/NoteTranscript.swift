internal import Inbox
internal import PipelineModel
internal import Sidecars

/// What says what is said in a note's recording: a file that came with it, or its sidecar.
struct NoteTranscript: Hashable {
  /// Its bytes, in the store.
  let artifact: Artifact
  /// The file's name as it arrived, in a form that can be shown.
  let name: String
  /// What the file is called for the pipeline, which goes by the ending.
  let linkName: String

  /// Chooses among what came with a note: what the sidecar says, then what lay beside the recording,
  /// in the order of ``TranscriptName``, and of one file its newest version.
  /// - Parameters:
  ///   - files: those of the note, the oldest first.
  ///   - sidecar: the note's sidecar and its bytes; nil where it has none.
  init?(among files: [NoteFile], sidecar: (artifact: Artifact, bytes: [UInt8])?) {
    func name(_ file: NoteFile) -> FileName? { InboxPath(escaped: file.path)?.name }
    var found: [FileName: Artifact] = [:]
    for file in files where file.role == .transcript {
      if let name = name(file), let artifact = file.transcript { found[name] = artifact }
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
    case nil:
      let candidates = files.first { $0.role == .recording }.flatMap(name).map {
        TranscriptName.candidates(for: $0) + SidecarName.candidates(for: $0)
      }
      guard let name = candidates?.first(where: { found[$0] != nil }), let artifact = found[name]
      else { return nil }
      self.init(artifact, name)
    }
  }

  private init(_ artifact: Artifact, _ name: FileName?) {
    self.artifact = artifact
    self.name = name?.description ?? "the sidecar"
    linkName = "transcript" + (name.map { RecordingName($0).ending } ?? ".json")
  }

  /// Where it comes from, when its recording came.
  func origin(like recording: RecordingOrigin) -> RecordingOrigin {
    RecordingOrigin(
      name: name, inbox: recording.inbox, arrivedAt: recording.arrivedAt, sidecarName: nil,
      sidecar: nil)
  }
}

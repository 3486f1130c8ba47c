internal import PipelineModel
internal import Store

/// A recording's transcript: a file that came with it, or its sidecar.
struct RecordingTranscript: Hashable {
  /// Its bytes, in the store.
  let artifact: Artifact
  /// The name of the file as it arrived, printable.
  let name: String
  /// The file's name for the pipeline, which decides by the ending.
  let linkName: String

  /// Chooses among what came with a recording: what the sidecar names, then what lay beside the
  /// recording, in the order of ``TranscriptName``, and of one file its newest version.
  /// - Parameters:
  ///   - files: those of the recording, the oldest first.
  ///   - sidecar: the recording's sidecar and its bytes; nil if it has none.
  init?(among files: [RecordingFile], sidecar: (artifact: Artifact, bytes: [UInt8])?) {
    func name(_ file: RecordingFile) -> FileName? { InboxPath(escaped: file.path)?.name }
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

  func origin(like recording: RecordingOrigin) -> RecordingOrigin {
    RecordingOrigin(
      name: name, inbox: recording.inbox, arrivedAt: recording.arrivedAt, sidecarName: nil,
      sidecar: nil)
  }
}

/// An arrived file's own name, made fit to be part of any path.
struct RecordingName: Hashable, Sendable {
  let stem: String
  /// The ending with its dot; empty if there is none.
  let ending: String

  /// Takes a name that is already fit, and the recording's own ending.
  init(stem: String, endingOf name: FileName?) {
    self.stem = stem
    ending = RecordingName(name).ending
  }

  /// Cleans a name. Never fails: an empty result becomes `recording`.
  init(_ name: FileName?) {
    guard let name else {
      (stem, ending) = ("recording", "")
      return
    }
    let bytes = name.bytes
    let stemBytes = name.stem
    stem = PrintableText.fileName(String(decoding: stemBytes, as: UTF8.self)) ?? "recording"
    let rest = String(decoding: bytes.dropFirst(stemBytes.count + 1), as: UTF8.self)
    let isPlain = rest.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x61...0x7a).contains($0 | 0x20)
    }
    ending = isPlain && (1...8).contains(rest.utf8.count) ? "." + rest : ""
  }

  func text(marked mark: String? = nil) -> String {
    stem + (mark.map { "-\($0)" } ?? "") + ending
  }

  /// A file name whose exports keep the whole stem: export names drop what follows the last dot.
  func fileName(marked mark: String? = nil) -> String {
    text(marked: mark) + (ending.isEmpty && stem.contains(".") ? ".recording" : "")
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

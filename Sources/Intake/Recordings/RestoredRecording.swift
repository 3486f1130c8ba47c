package import PipelineModel
package import Platform
package import Store

/// A recording that comes back from another place, with what arrived with it: the files are in the store.
package struct RestoredRecording: Sendable {
  /// A file of it.
  package struct File: Sendable {
    /// The name that it arrived by.
    package let name: String
    package let artifact: Artifact
    /// The version of its file in the store.
    package let stamp: FileStamp

    package init(name: String, artifact: Artifact, stamp: FileStamp) {
      self.name = name
      self.artifact = artifact
      self.stamp = stamp
    }
  }

  /// What a text file that arrived with a recording is.
  package enum Companion: Hashable, Sendable {
    case sidecar
    case transcript

    /// - Parameters:
    ///   - name: its name.
    ///   - beginning: its first bytes, of a sidecar all.
    package init(_ name: String, beginning: [UInt8]) {
      guard name.lowercased().hasSuffix(".json") else {
        self = .transcript
        return
      }
      let sidecar = beginning.count <= Sidecar.byteLimit ? Sidecar(json: beginning) : nil
      self = sidecar.map { $0.isReadable && !$0.isTranscript } == true ? .sidecar : .transcript
    }
  }

  private let recording: File
  private var sidecar: (file: File, facts: Sidecar)?
  private var transcripts: [File] = []
  private let description: Sidecar

  /// - Parameter description: what is known of it without a sidecar: JSON with a sidecar's fields.
  package init(_ recording: File, describedBy description: [UInt8]) {
    self.recording = recording
    self.description = Sidecar(json: description)
  }

  /// Adds a file that arrived with it. Of several sidecars, the first counts.
  /// - Parameter bytes: of a sidecar, all.
  package mutating func add(_ file: File, _ companion: Companion, bytes: [UInt8]) {
    switch companion {
    case .sidecar where sidecar == nil: sidecar = (file, Sidecar(json: bytes))
    case .sidecar, .transcript: transcripts.append(file)
    }
  }

  /// What the store records of it.
  /// - Parameters:
  ///   - pipeline: that processed it.
  ///   - folder: the absolute path that stands for its inbox.
  package func arrival(pipeline: String, inbox folder: String) -> RecordingArrival {
    let name = FileName(recording.name) ?? Self.unnamed
    var described = sidecar?.facts ?? bare
    // Its length may have been that of its container.
    described.milliseconds = described.milliseconds ?? description.milliseconds
    let facts = RecordingFacts(sidecar: described, container: nil, name: name)
    var arrival = RecordingArrival(
      pipeline: pipeline, inbox: folder, path: PrintableText.escaped(name.bytes),
      stamp: RecordingFileStamp(recording.stamp), fileName: name.description,
      recording: recording.artifact)
    arrival.sidecar = sidecar.map { Self.companion($0.file) }
    arrival.transcripts = transcripts.map(Self.companion)
    arrival.deviceID = facts.noteID?.value.text
    arrival.deviceName = facts.noteID?.value.written
    arrival.facts = FactsText.json(
      facts, sidecar: described, transcript: transcripts.first?.name)
    arrival.title = facts.title?.value
    arrival.tags = described.tags
    return arrival
  }

  /// The description without what no sidecar has.
  private var bare: Sidecar {
    var sidecar = description
    (sidecar.unknown, sidecar.written, sidecar.problems) = ([:], [:], [])
    return sidecar
  }

  private static func companion(_ file: File) -> RecordingArrival.Companion {
    let name = FileName(file.name) ?? unnamed
    return RecordingArrival.Companion(
      path: PrintableText.escaped(name.bytes), stamp: RecordingFileStamp(file.stamp),
      artifact: file.artifact)
  }

  private static let unnamed: FileName = {
    guard let name = FileName("recording") else { preconditionFailure("a plain name") }
    return name
  }()
}

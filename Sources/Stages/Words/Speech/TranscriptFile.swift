import PipelineModel
package import Platform
package import Transcripts

/// A transcript that came in as a file, or that a step above made.
package struct TranscriptFile: Sendable {
  /// What is said in it.
  package let transcript: Transcript
  /// The SHA-256 of the file.
  package let digest: Digest

  /// Reads what a port was given.
  static func read(_ port: PortName, of context: StageContext) throws(SpoolError) -> Transcript {
    if let file = context.files[port] { return try TranscriptFile(file).transcript }
    guard let artifact = context.inputs[port]?.artifact else {
      throw SpoolError("there is no transcript at \(port)")
    }
    let path = try context.store.path(of: artifact)
    // The words of hours are longer than what the store reads as text.
    return try Transcript(ofStage: try bytes(of: path))
  }

  /// Reads a file in whichever format it has: a transcript, or a sidecar that holds one.
  package init(_ file: SourceFile) throws(SpoolError) {
    try self.init(try Self.bytes(of: file.path), named: file.name)
  }

  /// Reads the bytes of a file, which may have been a pipe.
  /// - Parameter path: the file's, for its format and for messages.
  package init(_ bytes: [UInt8], named path: String) throws(SpoolError) {
    let name = path.pathNames.last ?? path
    digest = SHA256.digest(of: bytes)
    do throws(SpoolError) {
      let inner = Self.inSidecar(bytes)
      transcript = try Self.read(inner?.bytes ?? bytes, named: inner?.name ?? name)
    } catch {
      var error = error
      error.scope = [path]
      throw error
    }
  }

  private static func bytes(of path: String) throws(SpoolError) -> [UInt8] {
    try doing("read", path) { () throws(SystemError) in
      try FileOperations.system.bytes(following: path)
    }
  }

  /// Reads a text in whichever format it has.
  static func read(_ bytes: [UInt8], named name: String) throws(SpoolError) -> Transcript {
    try TranscriptFormat.recognised(in: bytes, fileName: name).read(bytes)
  }
}

/// The transcript that a recording's sidecar holds in its field `transcript`.
extension TranscriptFile {
  /// The transcript as a file of its own, with a name that tells its format; nil where the bytes are
  /// no such sidecar.
  private static func inSidecar(_ bytes: [UInt8]) -> (bytes: [UInt8], name: String)? {
    let bytes = TextEncoding.utf8(of: bytes)
    guard bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{"),
      let read = try? JSONReader.value(of: bytes, depthLimit: 32),
      case .object(let fields) = read.value, fields["words"] == nil, fields["segments"] == nil
    else { return nil }
    switch fields["transcript"] {
    case .text(let text): return (Array(text.utf8), "transcript.txt")
    case .object(let object):
      return (Array(JSONValue.object(object).compact.utf8), "transcript.json")
    case .list(let words):
      return (Array(JSONValue.object(["words": .list(words)]).compact.utf8), "transcript.json")
    default: return nil
    }
  }
}

extension PortName {
  /// Words with or without their times.
  static let transcript = PortName("transcript")
}

extension StageContext {
  /// Keeps words, and what is to be said about them, as the outputs of a stage that found them.
  /// - Parameter figures: JSON.
  func outputs(
    of transcript: Transcript, figures: String
  ) throws(SpoolError) -> [PortName: StepOutput] {
    let text = try TranscriptFormat.json.write(transcript.rounded)
    return [
      .transcript: StepOutput(try store.keep(text, as: .transcript)),
      .measurement: StepOutput(try store.keep(figures, as: .measurement)),
    ]
  }
}

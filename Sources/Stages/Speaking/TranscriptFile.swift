import FoundationEssentials
public import Hashing
public import PipelineModel
public import Transcripts

/// A transcript that came in as a file, or that a step above made.
public struct TranscriptFile: Sendable {
  /// What is said in it.
  public let transcript: Transcript
  /// The SHA-256 of the file.
  public let digest: Digest

  /// Reads what a port was given.
  static func read(_ port: PortName, of context: StageContext) throws(StageError) -> Transcript {
    if let path = context.files[port] { return try TranscriptFile(path).transcript }
    guard let artifact = context.inputs[port]?.artifact else {
      throw StageError("there is no transcript at \(port)")
    }
    let path: String
    do throws(StoreError) { path = try context.store.path(of: artifact) } catch {
      throw StageError(error)
    }
    // The words of hours are longer than what the store reads as text.
    return try read(try bytes(of: path), named: "transcript.json")
  }

  /// Reads a file in whichever format it has: a transcript, or a sidecar that holds one.
  public init(_ path: String) throws(StageError) {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    let bytes = try Self.bytes(of: path)
    digest = SHA256.digest(of: bytes)
    do throws(StageError) {
      let inner = SidecarTranscript.find(in: bytes)
      transcript = try Self.read(inner?.bytes ?? bytes, named: inner?.name ?? name)
    } catch {
      throw StageError("\(path): \(error.message)", reason: error.reason, advice: error.advice)
    }
  }

  private static func bytes(of path: String) throws(StageError) -> [UInt8] {
    do { return Array(try Data(contentsOf: URL(filePath: path))) } catch {
      throw StageError("cannot read \(path)", reason: "\(error)", cause: .environment)
    }
  }

  /// Reads a text in whichever format it has.
  static func read(_ bytes: [UInt8], named name: String) throws(StageError) -> Transcript {
    do throws(TranscriptError) {
      let format = try TranscriptFormat.recognised(in: bytes, fileName: name)
      return try format.read(bytes)
    } catch { throw StageError(error) }
  }
}

extension StageError {
  /// A transcript's trouble, as a stage's.
  init(_ error: TranscriptError) {
    self.init(
      "cannot \(error.doing.rawValue) the transcript"
        + (error.format.map { " as \($0)" } ?? "") + (error.place.map { " at \($0)" } ?? ""),
      reason: error.reason, advice: error.advice)
  }
}

import FoundationEssentials
import PipelineModel
import Transcripts

/// A transcript that came in as a file, or that a step above made.
enum TranscriptFile {
  /// Reads what a port was given.
  static func read(_ port: PortName, of context: StageContext) throws(StageError) -> Transcript {
    if let path = context.files[port] { return try read(path) }
    guard let artifact = context.inputs[port]?.artifact else {
      throw StageError("there is no transcript at \(port)")
    }
    let text: String
    do throws(StoreError) { text = try context.store.text(of: artifact) } catch {
      throw StageError(error)
    }
    return try read(Array(text.utf8), named: "transcript.json")
  }

  /// Reads a file in whichever format it has.
  private static func read(_ path: String) throws(StageError) -> Transcript {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    let bytes: [UInt8]
    do {
      bytes = Array(try Data(contentsOf: URL(filePath: path)))
    } catch {
      throw StageError("cannot read \(path)", reason: "\(error)", cause: .environment)
    }
    do throws(StageError) {
      if let inner = SidecarTranscript.find(in: bytes) {
        return try read(inner.bytes, named: inner.name)
      }
      return try read(bytes, named: name)
    } catch {
      throw StageError("\(path): \(error.message)", reason: error.reason, advice: error.advice)
    }
  }

  private static func read(_ bytes: [UInt8], named name: String) throws(StageError) -> Transcript {
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

import FoundationEssentials
import JSONText
import PipelineModel
import PluginHost
import Transcripts

/// Whether a file that a program wrote is what its port carries: told before it is kept, so that no
/// stage below is blamed for it, and nothing broken is used again.
struct OutputForm {
  let port: PluginManifest.FilePort
  /// Who wrote it, for people.
  let maker: String

  /// Bytes of the largest figures and words that are read whole.
  private static let most = 256 << 20

  /// Reads a file as what it is to be. Sound is checked where it is decoded, and of a plain file
  /// nothing is expected. O(its length).
  func check(_ path: String, byteCount: Int) throws(StageError) {
    guard port.carries == .measurement || port.carries == .transcript else { return }
    guard byteCount <= Self.most else {
      throw failure("has more than \(Self.most >> 20) MB", nil)
    }
    guard let bytes = FileManager.default.contents(atPath: path).map(Array.init) else {
      throw failure("cannot be read", nil)
    }
    if port.carries == .measurement {
      do throws(JSONSyntaxError) {
        _ = try JSONReader.value(of: bytes, depthLimit: 512)
      } catch {
        throw failure("is no JSON: \(error)", "let it write figures as JSON")
      }
    } else {
      do throws(StageError) { _ = try TranscriptFile.read(bytes, named: "transcript.json") } catch {
        throw failure(
          "is no transcript: \(error.message)" + (error.reason.map { ": \($0)" } ?? ""),
          error.advice ?? "let it write a transcript of a format that Spool reads")
      }
    }
  }

  private func failure(_ reason: String, _ advice: String?) -> StageError {
    StageError(
      "\(maker) failed", reason: "the \(port.name) that it wrote \(reason)", advice: advice,
      cause: .environment)
  }
}

internal import JSONText
public import PipelineModel
import Sidecars

/// What the sidecar of one recording asks of a batch.
///
/// `"spool": {"set": {"loudness": "-18 LUFS"}}` gives variables of the pipeline that are marked
/// `overridable: true` another value, for this recording alone. `title`, `createdAt` and whatever
/// else holds text or a number at the top can be used in names.
public struct FileWishes: Sendable {
  /// What it gives the pipeline's variables.
  public let overrides: [String: DocumentNode]
  /// What it says of the recording, names in lower case.
  public let fields: [String: String]
  /// All that it says.
  let sidecar: Sidecar

  /// Reads a sidecar for a pipeline.
  /// - Throws: what is wrong with it: no JSON, or a variable that it may not set.
  public init(
    _ text: [UInt8], path: String, variables: [VariableDefinition]
  ) throws(StageError) {
    let sidecar = Sidecar(json: text)
    guard sidecar.isReadable else {
      let problem = sidecar.problems.first.map { ": \($0)" } ?? ""
      throw StageError(
        "cannot use the sidecar \(path)", reason: "it is no JSON object" + problem,
        advice: "mend the sidecar, or take it away")
    }
    overrides = try SidecarOverrides.read(
      sidecar.written["spool"]?.node, of: path, variables: variables)
    self.sidecar = sidecar
    var fields: [String: String] = [:]
    for (name, value) in sidecar.written.sorted(by: { $0.key < $1.key }) {
      switch value {
      case .text(let text), .number(let text): fields[name.lowercased()] = text
      default: break
      }
    }
    self.fields = fields
  }
}

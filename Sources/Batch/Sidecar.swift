import FoundationEssentials
public import PipelineModel

/// The JSON file beside a recording that has its stem: `note.json` for `note.m4a`.
///
/// `"spool": {"set": {"loudness": "-18 LUFS"}}` gives variables of the pipeline that are marked
/// `overridable: true` another value, for this recording alone. `title`, `createdAt` and whatever
/// else holds text or a number at the top can be used in names. Nothing else in it is looked at.
public struct Sidecar: Sendable {
  /// The longest sidecar that is read, in bytes.
  public static let maximumByteCount = 1 << 20

  /// What it gives the pipeline's variables.
  public let overrides: [String: DocumentNode]
  /// What it says of the recording, names in lower case.
  public let fields: [String: String]

  /// Reads a sidecar for a pipeline.
  /// - Throws: what is wrong with it: no JSON, or a variable that it may not set.
  public init(
    _ text: [UInt8], path: String, variables: [VariableDefinition]
  ) throws(StageError) {
    guard text.count <= Self.maximumByteCount else {
      throw Self.failure(path, "it is longer than 1 MiB")
    }
    let value: JSONValue
    do {
      value = try JSONDecoder().decode(JSONValue.self, from: Data(text))
    } catch {
      throw Self.failure(path, "it is no JSON text")
    }
    guard case .object(let members) = value else {
      throw Self.failure(path, "it is \(value.summary), not an object")
    }
    overrides = try SidecarOverrides.read(
      members["spool"]?.node, of: path, variables: variables)
    var fields: [String: String] = [:]
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      switch value {
      case .text(let text): fields[name.lowercased()] = text
      case .number: fields[name.lowercased()] = value.summary
      default: break
      }
    }
    self.fields = fields
  }

  private static func failure(
    _ path: String, _ reason: String
  ) -> StageError {
    StageError(
      "cannot use the sidecar \(path)", reason: reason, advice: "mend the sidecar, or take it away")
  }
}

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
    overrides = try Self.overrides(members["spool"], path, variables)
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

  private static func overrides(
    _ spool: JSONValue?, _ path: String, _ variables: [VariableDefinition]
  ) throws(StageError) -> [String: DocumentNode] {
    guard let spool, spool != .null else { return [:] }
    guard case .object(let parts) = spool else {
      throw failure(path, "\"spool\" is \(spool.summary), not an object")
    }
    if let unknown = parts.keys.sorted().first(where: { $0 != "set" }) {
      throw failure(path, "\"spool\" has no \"\(unknown)\", only \"set\"")
    }
    guard let set = parts["set"], set != .null else { return [:] }
    guard case .object(let values) = set else {
      throw failure(path, "\"set\" is \(set.summary), not an object")
    }
    let allowed = variables.filter(\.isOverridable).map(\.name)
    var wrong: [String] = []
    for name in values.keys.sorted() where !allowed.contains(name) {
      let isThere = variables.contains { $0.name == name }
      let near = Problem.nearest(to: name, in: allowed).map { ": did you mean \($0)?" } ?? ""
      wrong.append(
        isThere
          ? "the variable \(name) is not marked overridable"
          : "the pipeline has no variable \"\(name)\"" + near)
    }
    guard wrong.isEmpty else {
      throw failure(
        path, wrong.joined(separator: "; "),
        advice: allowed.isEmpty
          ? "take it out, or mark variables of the pipeline with overridable: true"
          : "it may set \(allowed.joined(separator: ", "))")
    }
    return values.mapValues(\.node)
  }

  private static func failure(
    _ path: String, _ reason: String, advice: String = "mend the sidecar, or take it away"
  ) -> StageError {
    StageError("cannot use the sidecar \(path)", reason: reason, advice: advice)
  }
}

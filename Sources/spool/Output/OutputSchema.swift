import CTexts
import PipelineModel
import Platform

/// The JSON Schema (draft 2020-12) of what a command prints with `--json`: of one line of it, which
/// is one object, or for `stages` one array.
///
/// The schemas are files in `Sources/System/CTexts/JSON`.
struct OutputSchema: Sendable {
  /// The command's words with hyphens: `runs-list`; `batch-report` is that of `batch.json`, and
  /// `delivered-recording` that of the documents at destinations.
  let name: String
  private let text: String

  /// All of them, by name.
  static let all = (0..<Int(text_json_schema_count)).map { index in
    unsafe OutputSchema(
      name: String(cString: text_json_schemas[index].name),
      text: String(cString: text_json_schemas[index].text))
  }

  /// The schema with every definition that it refers to.
  var value: Value {
    guard case .group(var schema)? = Value(json: text) else { return .null }
    let shared = Self.definitions(in: Value(json: unsafe String(cString: text_json_definitions)))
    var used = Self.definitions(in: .group(schema))
    var open = Self.references(in: .group(schema))
    while let name = open.popLast() {
      guard used[name] == nil, let definition = shared[name] else { continue }
      used[name] = definition
      open += Self.references(in: definition)
    }
    schema["$defs"] = used.isEmpty ? nil : .group(used)
    return .group(schema)
  }

  private static func definitions(in schema: Value?) -> [String: Value] {
    guard case .group(let members)? = schema, case .group(let definitions)? = members["$defs"]
    else { return [:] }
    return definitions
  }

  /// The names behind `$ref`.
  private static func references(in value: Value) -> [String] {
    switch value {
    case .list(let values): values.flatMap(references)
    case .group(let members):
      members.flatMap { name, value in
        guard name == "$ref", case .text(let place) = value else { return references(in: value) }
        return place.pathNames.last.map { [$0] } ?? []
      }
    default: []
    }
  }
}

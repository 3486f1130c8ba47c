internal import Platform

extension JSONForm {
  /// As JSON Schema, draft 2020-12.
  var schema: JSONValue {
    switch self {
    case .constant(let text): .object(["const": .text(text)])
    case .oneOf(let texts): .object(["enum": .list(texts.map { .text($0) })])
    case .text(let canBeEmpty):
      .object(leavingOut: [
        "type": .text("string"), "minLength": canBeEmpty ? nil : .integer(1),
      ])
    case .base64: .object(["type": .text("string"), "contentEncoding": .text("base64")])
    case .hex: Self.pattern("^[0-9a-f]{64}$")
    case .time:
      Self.pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$")
    case .integer(let least):
      .object(["type": .text("integer"), "minimum": .integer(least)])
    case .object(let members):
      .object([
        "type": .text("object"),
        "properties": .object(
          Dictionary(members.map { ($0.name, $0.schema) }, uniquingKeysWith: { one, _ in one })),
        "required": .list(members.filter(\.isRequired).map { .text($0.name) }),
        "additionalProperties": .boolean(false),
      ])
    case .map(let form):
      .object(["type": .text("object"), "additionalProperties": form.schema])
    case .anything: .object(["type": .text("object")])
    case .list(let form, let least):
      .object(leavingOut: [
        "type": .text("array"), "items": form.schema,
        "minItems": least > 0 ? .integer(least) : nil,
      ])
    }
  }

  private static func pattern(_ pattern: String) -> JSONValue {
    .object(["type": .text("string"), "pattern": .text(pattern)])
  }
}

extension JSONForm.Member {
  fileprivate var schema: JSONValue {
    guard let note, case .object(var members) = form.schema else { return form.schema }
    members["description"] = .text(note)
    return .object(members)
  }
}

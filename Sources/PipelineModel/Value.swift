internal import JSONText

/// A parameter's value once its units are resolved: what JSON can say.
public indirect enum Value: Hashable, Sendable {
  /// Nothing was given.
  case null
  /// Yes or no.
  case flag(Bool)
  /// A number, in the parameter's own unit.
  case number(Double)
  /// A string.
  case text(String)
  /// An ordered list.
  case list([Value])
  /// Named values.
  case group([String: Value])

  /// The value as JSON with sorted keys and the shortest numbers that read back the same: equal
  /// values have equal text, which is what makes it fit for keys.
  public var canonicalJSON: String {
    switch self {
    case .null: "null"
    case .flag(let flag): flag ? "true" : "false"
    case .number(let number): Value.canonical(number)
    case .text(let text): JSONString.quoted(text)
    case .list(let values): "[" + values.map(\.canonicalJSON).joined(separator: ",") + "]"
    case .group(let members):
      "{"
        + members.sorted { $0.key < $1.key }
        .map { "\(JSONString.quoted($0.key)):\($0.value.canonicalJSON)" }
        .joined(separator: ",") + "}"
    }
  }

  private static func canonical(_ number: Double) -> String {
    if number == number.rounded(), abs(number) < 1e15 { return String(Int(number)) }
    return "\(number)"
  }
}

extension Value {
  /// The value as JSON with sorted keys and an indentation of two, for people.
  public var indentedJSON: String { indented(0) }

  private func indented(_ depth: Int) -> String {
    let inner = String(repeating: "  ", count: depth + 1)
    let outer = String(repeating: "  ", count: depth)
    switch self {
    case .list(let values) where !values.isEmpty:
      let lines = values.map { inner + $0.indented(depth + 1) }
      return "[\n" + lines.joined(separator: ",\n") + "\n\(outer)]"
    case .group(let members) where !members.isEmpty:
      let lines = members.sorted { $0.key < $1.key }.map {
        "\(inner)\(JSONString.quoted($0.key)): \($0.value.indented(depth + 1))"
      }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
    default: return canonicalJSON
    }
  }
}

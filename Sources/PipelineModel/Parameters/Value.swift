import Platform

/// A parameter's value with its units resolved: the values of JSON.
package indirect enum Value: Hashable, Sendable {
  case null
  case flag(Bool)
  /// In the parameter's own unit.
  case number(Double)
  case text(String)
  case list([Value])
  case group([String: Value])

  /// JSON with sorted keys and the shortest numbers that read back the same: equal values have
  /// equal text, as keys require.
  package var canonicalJSON: String {
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

  /// JSON with sorted keys and an indentation of two, for people.
  package var indentedJSON: String { indented(0) }

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

extension Value: Decodable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let values = try? container.decode([Value].self) {
      self = .list(values)
    } else {
      self = .group(try container.decode([String: Value].self))
    }
  }

  /// Reads `canonicalJSON`; nil for anything but JSON.
  package init?(json: String) {
    do { try self.init(jsonText: json) } catch { return nil }
  }
}

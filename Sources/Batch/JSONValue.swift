import FoundationEssentials
import PipelineModel

/// A JSON text that somebody else wrote.
enum JSONValue: Decodable, Hashable {
  case null
  case flag(Bool)
  case number(Double)
  case text(String)
  case list([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    if let keyed = try? decoder.singleValueContainer().decode([String: JSONValue].self) {
      self = .object(keyed)
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else {
      self = .list(try container.decode([JSONValue].self))
    }
  }

  /// A member of an object; nil for anything else.
  subscript(name: String) -> JSONValue? {
    if case .object(let members) = self { return members[name] }
    return nil
  }

  /// As a pipeline's file would have it.
  var node: DocumentNode {
    let place = SourceLocation(line: 1, column: 1)
    func scalar(_ text: String, isQuoted: Bool = false) -> DocumentNode {
      DocumentNode(.scalar(text, isQuoted: isQuoted), at: place)
    }
    switch self {
    case .null: return scalar("null")
    case .flag(let flag): return scalar(flag ? "true" : "false")
    case .number(let number): return scalar(Value.number(number).canonicalJSON)
    case .text(let text): return scalar(text, isQuoted: true)
    case .list(let values): return DocumentNode(.sequence(values.map(\.node)), at: place)
    case .object(let members):
      let entries = members.sorted { $0.key < $1.key }.map {
        DocumentNode.Entry(key: $0.key, location: place, value: $0.value.node)
      }
      return DocumentNode(.mapping(entries), at: place)
    }
  }

  /// What it is, for a message.
  var summary: String {
    switch self {
    case .null: "null"
    case .flag(let flag): "\(flag)"
    case .number(let number): Value.number(number).canonicalJSON
    case .text(let text): "\"\(text.prefix(40))\""
    case .list: "a list"
    case .object: "an object"
    }
  }
}

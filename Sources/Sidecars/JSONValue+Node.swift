public import JSONText
public import PipelineModel

extension JSONValue {
  /// The value as a pipeline's file would have it.
  public var node: DocumentNode {
    let place = SourceLocation(line: 1, column: 1)
    func scalar(_ text: String, isQuoted: Bool = false) -> DocumentNode {
      DocumentNode(.scalar(text, isQuoted: isQuoted), at: place)
    }
    switch self {
    case .null: return scalar("null")
    case .boolean(let flag): return scalar(flag ? "true" : "false")
    case .number(let number): return scalar(number)
    case .text(let text): return scalar(text, isQuoted: true)
    case .list(let values): return DocumentNode(.sequence(values.map(\.node)), at: place)
    case .object(let members):
      let entries = members.sorted { $0.key < $1.key }.map {
        DocumentNode.Entry(key: $0.key, location: place, value: $0.value.node)
      }
      return DocumentNode(.mapping(entries), at: place)
    }
  }
}

import PipelineModel

extension DocumentNode {
  /// The node as it would be typed behind `--set name=`: YAML in one line that means the same.
  var flowText: String {
    switch content {
    case .scalar(let text, isQuoted: false): text
    case .scalar(let text, isQuoted: true): Value.text(text).canonicalJSON
    case .sequence(let nodes): "[" + nodes.map(\.flowText).joined(separator: ", ") + "]"
    case .mapping(let entries):
      "{"
        + entries.map { Value.text($0.key).canonicalJSON + ": " + $0.value.flowText }
        .joined(separator: ", ") + "}"
    }
  }
}

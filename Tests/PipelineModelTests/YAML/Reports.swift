import PipelineModel

/// Swift Testing has a `SourceLocation` too.
typealias Place = PipelineModel.SourceLocation

extension Problem {
  /// The problem on one line, as these tests write it: `3:5 message [allowed] → suggestion`.
  var report: String {
    let place = location.map { "\($0.line):\($0.column) " } ?? ""
    return place + message + (allowed.map { " [\($0)]" } ?? "")
      + (suggestion.map { " → \($0)" } ?? "")
  }

  /// Where it stands and what was found: `3:5 message`.
  var finding: String { report.split(separator: " [").first.map(String.init) ?? "" }
}

extension DocumentNode {
  /// The tree on one line, with quotes around quoted scalars: `{a: [1, "2"]}`.
  var outline: String {
    switch content {
    case .scalar(let text, let isQuoted): isQuoted ? "\"\(text)\"" : text
    case .typed(let text): text
    case .sequence(let nodes): "[" + nodes.map(\.outline).joined(separator: ", ") + "]"
    case .mapping(let entries):
      "{" + entries.map { "\($0.key): \($0.value.outline)" }.joined(separator: ", ") + "}"
    }
  }
}

import PipelineModel

extension Problem {
  /// What `--json` shows of it.
  /// - Parameter path: the file that it is in.
  func value(in path: String) -> Value {
    .group([
      "file": .text(path),
      "line": location.map { .number(Double($0.line)) } ?? .null,
      "column": location.map { .number(Double($0.column)) } ?? .null,
      "message": .text(message),
      "allowed": allowed.map { .text($0) } ?? .null,
      "suggestion": suggestion.map { .text($0) } ?? .null,
    ])
  }
}

internal import PipelineModel

/// Why a text cannot be read on as YAML: where, in libyaml's words, with a hint where the usual
/// cause is known.
struct YAMLSyntaxError: Error {
  /// What is wrong, for people.
  let problem: Problem

  /// A text that is YAML, but more of it than is taken.
  init(_ problem: Problem) { self.problem = problem }

  /// A text that breaks YAML's rules at `location`, while reading the construct in `context`.
  init(
    _ words: String, context: (text: String, start: SourceLocation)? = nil,
    at location: SourceLocation, in bytes: [UInt8]
  ) {
    var message = words
    if let context {
      message += " \(context.text)"
      if context.start.line != location.line {
        message += " that begins at \(context.start.line):\(context.start.column)"
      }
    }
    let culprit = Self.character(at: location, in: bytes)
    problem = Problem(at: location, message, allowed: Self.hint(for: words, culprit: culprit))
  }

  /// Bytes that are not a text at all.
  init(unreadable words: String, at location: SourceLocation) {
    problem = Problem(
      at: location, "this is not text: \(words)", allowed: "UTF-8 without control characters")
  }

  private static func character(
    at location: SourceLocation, in bytes: [UInt8]
  ) -> Unicode.Scalar? {
    let lines = SourceLines(bytes).lines
    guard lines.indices.contains(location.line - 1) else { return nil }
    let line = lines[location.line - 1]
    return line.indices.contains(location.column - 1) ? line[location.column - 1] : nil
  }

  private static func hint(for words: String, culprit: Unicode.Scalar?) -> String? {
    switch (words, culprit) {
    case (_, "\t"): "spaces for indentation, no tabs"
    case ("found character that cannot start any token", let culprit?):
      "quotes around a value that begins with \(culprit)"
    case ("mapping values are not allowed in this context", _):
      "a key at the start of a line, and quotes around a value with \": \" in it"
    case ("did not find expected key", _), ("did not find expected '-' indicator", _):
      "lines that belong together begin in the same column"
    case ("found unexpected end of stream", _): "a closing quote"
    case ("did not find expected ',' or ']'", _): "a comma, or ] at the end of the list"
    case ("did not find expected ',' or '}'", _): "a comma, or } at the end of the mapping"
    default: nil
    }
  }
}

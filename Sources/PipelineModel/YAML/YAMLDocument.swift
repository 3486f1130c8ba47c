/// One YAML document as a tree of nodes with places, and every error in it.
///
/// The language is YAML 1.2's core: one document, text as keys, anchors and aliases but no tags and
/// no merge keys. Scalars stay text, so `no` is the word "no". Bytes, nodes (aliases count per use)
/// and depth are bounded.
package struct YAMLDocument: Hashable, Sendable {
  /// A null node for an empty document, nil if it could not be read to its end.
  package let root: DocumentNode?
  /// In the order of the file. Each problem has a place inside the text.
  package let problems: [Problem]

  /// UTF-8, with or without a byte order mark. O(n) in bytes and used aliases.
  package init(_ bytes: [UInt8]) { self.init(bytes, limits: YAMLLimits()) }

  /// O(n) in bytes and used aliases.
  package init(_ text: String) { self.init(Array(text.utf8)) }

  init(_ bytes: [UInt8], limits: YAMLLimits) {
    let content = bytes.starts(with: SourceLines.byteOrderMark) ? Array(bytes.dropFirst(3)) : bytes
    guard content.count <= limits.bytes else {
      root = nil
      problems = [
        Problem(
          at: SourceLocation(line: 1, column: 1), "the file is \(content.count) bytes long",
          allowed: "at most \(limits.bytes) bytes")
      ]
      return
    }
    var composer = YAMLComposer(content, limits: limits)
    root = composer.compose()
    let found = composer.problems.inFileOrder
    guard !found.isEmpty else {
      problems = []
      return
    }
    let lines = SourceLines(content)
    problems = found.map { $0.moved(into: lines) }
  }
}

extension Problem {
  /// Moves the problem to the nearest place in the text: libyaml reports a missing bracket behind
  /// the last line.
  fileprivate func moved(into lines: SourceLines) -> Problem {
    Problem(
      at: location.map { lines.nearest(to: $0) }, message, allowed: allowed, suggestion: suggestion)
  }
}

/// Why a text is not YAML: where, in libyaml's words, with a hint at the usual cause if known.
struct YAMLSyntaxError: Error {
  let problem: Problem

  /// For YAML that exceeds a limit.
  init(_ problem: Problem) { self.problem = problem }

  /// For invalid YAML at `location`, inside the construct of `context`.
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

  /// For bytes that are not text.
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

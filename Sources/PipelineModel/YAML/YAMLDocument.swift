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
  package init(_ bytes: [UInt8]) { self.init(bytes, byteLimit: 1 << 20) }

  /// O(n) in bytes and used aliases.
  package init(_ text: String) { self.init(Array(text.utf8)) }

  init(_ bytes: [UInt8], byteLimit: Int) {
    let content = bytes.starts(with: SourceLines.byteOrderMark) ? Array(bytes.dropFirst(3)) : bytes
    guard content.count <= byteLimit else {
      root = nil
      problems = [
        Problem(
          at: SourceLocation(line: 1, column: 1), "the file is \(content.count) bytes long",
          allowed: "at most \(byteLimit) bytes")
      ]
      return
    }
    var composer = Composer(content)
    root = composer.compose()
    let found = composer.problems.inFileOrder
    guard !found.isEmpty else {
      problems = []
      return
    }
    let lines = SourceLines(content)
    // libyaml reports a missing bracket behind the last line.
    problems = found.map { problem in
      Problem(
        at: problem.location.map { lines.nearest(to: $0) }, problem.message,
        allowed: problem.allowed, suggestion: problem.suggestion)
    }
  }
}

/// Why a text is not YAML: where, in libyaml's words, with a hint at the usual cause if known.
extension Problem {
  /// For invalid YAML at `location`, inside the construct of `context`.
  init(
    notYAML words: String, context: (text: String, start: SourceLocation)? = nil,
    at location: SourceLocation, in bytes: [UInt8]
  ) {
    var message = words
    if let context {
      message += " \(context.text)"
      if context.start.line != location.line {
        message += " that begins at \(context.start.line):\(context.start.column)"
      }
    }
    let lines = SourceLines(bytes).lines
    let line = lines.indices.contains(location.line - 1) ? lines[location.line - 1] : []
    let culprit = line.indices.contains(location.column - 1) ? line[location.column - 1] : nil
    self.init(at: location, message, allowed: Self.hint(for: words, culprit: culprit))
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
    // A plain value that begins with > or | is a text of several lines.
    case ("did not find expected comment or line break", _):
      "quotes around a value that begins with > or |"
    case ("did not find expected ',' or ']'", _): "a comma, or ] at the end of the list"
    case ("did not find expected ',' or '}'", _): "a comma, or } at the end of the mapping"
    default: nil
    }
  }
}

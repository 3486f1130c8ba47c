public import PipelineModel

/// One YAML document as a tree in which every node knows its place, with everything that was
/// wrong with the text.
///
/// The language is YAML 1.2's core without its corners: one document, text as keys, anchors and
/// aliases but no tags and no merge keys. Scalars stay text, so `no` is the word "no". What cannot
/// be refused cheaply is bounded: bytes, nodes (aliases count as often as they are used) and depth.
public struct YAMLDocument: Hashable, Sendable {
  /// What the document says; a null node if it says nothing, nil if it could not be read to its end.
  public let root: DocumentNode?
  /// What is wrong, in the order of the file. Each problem has a place inside the text.
  public let problems: [Problem]

  /// Reads UTF-8, with or without a byte order mark. O(n) in bytes and used aliases.
  public init(_ bytes: [UInt8]) { self.init(bytes, limits: YAMLLimits()) }

  /// Reads a text. O(n) in bytes and used aliases.
  public init(_ text: String) { self.init(Array(text.utf8)) }

  /// Reads within limits of the caller's.
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
  /// The problem, at the nearest place that the text has: libyaml finds a missing bracket behind
  /// the last line.
  fileprivate func moved(into lines: SourceLines) -> Problem {
    Problem(
      at: location.map { lines.nearest(to: $0) }, message, allowed: allowed, suggestion: suggestion)
  }
}

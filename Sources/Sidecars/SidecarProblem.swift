/// Something wrong in a sidecar.
public struct SidecarProblem: Hashable, Sendable, Codable {
  /// The field, such as `durationMs` or `tags[2]`, in a form that can be shown; nil where the
  /// whole file is meant.
  public let field: String?
  /// What is there: `the text "abc"`.
  public let found: String
  /// What would be right: `milliseconds, a number from 0`.
  public let expected: String
  /// The line, from 1, where the file is no JSON.
  public let line: Int?
  /// The byte in that line, from 1.
  public let column: Int?

  package init(
    field: String?, found: String, expected: String, line: Int? = nil, column: Int? = nil
  ) {
    self.field = field.map { PrintableText.of(Array($0.prefix(80).utf8)) }
    self.found = found
    self.expected = expected
    self.line = line
    self.column = column
  }
}

extension SidecarProblem: CustomStringConvertible {
  /// One line for people: `durationMs: found the text "abc", expected milliseconds, …`.
  public var description: String {
    let place = field ?? line.map { "line \($0), column \(column ?? 1)" } ?? "the file"
    return "\(place): found \(found), expected \(expected)"
  }
}

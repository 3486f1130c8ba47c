public import PipelineModel

/// Problems of a file as people read them, each under the line it is about:
///
/// ```
/// pipelines/x.yaml:12:13: error: "treshold" is not a parameter of gate
///   12 |   - gate: { treshold: -45 dB }
///      |             ^~~~~~~~
///      allowed: threshold, attack, hold, release, range
///      did you mean "threshold"?
/// ```
public struct SourceExcerpt {
  private let source: SourceLines
  private let path: String
  private let isColored: Bool

  /// Problems will be shown in this text of this file, with colours for a terminal if wanted.
  public init(_ text: String, path: String, isColored: Bool = false) {
    source = SourceLines(text)
    self.path = path
    self.isColored = isColored
  }

  /// The problems in the order of the file, an empty line between two, a line break at the end.
  /// Those without a place come last, with the file alone.
  public func render(_ problems: [Problem]) -> String {
    problems.inFileOrder.map { render($0) }.joined(separator: "\n")
  }

  private func render(_ problem: Problem) -> String {
    let place = problem.location.map { ":\($0.line):\($0.column)" } ?? ""
    let message = ExcerptWindow.printable(problem.message)
    let head = "\(ExcerptWindow.printable(path))\(place): "
    var lines = [bold(head) + red("error:") + bold(" \(message)")]
    let margin = problem.location.map { max(4, "\($0.line)".count + 2) } ?? 2
    let indent = String(repeating: " ", count: margin)
    if let location = problem.location, source.lines.indices.contains(location.line - 1) {
      let window = ExcerptWindow(source.lines[location.line - 1], column: location.column)
      let number = String(repeating: " ", count: margin - "\(location.line)".count)
      lines.append("\(number)\(location.line) | \(window.text)")
      lines.append("\(indent) | \(window.padding)" + red(window.marker))
    }
    if let allowed = problem.allowed {
      lines.append("\(indent) allowed: \(ExcerptWindow.printable(allowed))")
    }
    if let suggestion = problem.suggestion {
      lines.append("\(indent) did you mean \"\(ExcerptWindow.printable(suggestion))\"?")
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private func bold(_ text: String) -> String { isColored ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
  private func red(_ text: String) -> String { isColored ? "\u{1B}[1;31m\(text)\u{1B}[0m" : text }
}

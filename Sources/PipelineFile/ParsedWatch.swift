public import PipelineModel

/// A file for `spool watch --config` as read: what it asks for, and everything that is wrong with it.
/// It is fit to be followed only when `problems` is empty.
public struct ParsedWatch: Hashable, Sendable {
  /// What the file asks for, as far as it can be read.
  public let definition: WatchDefinition
  /// What is wrong, in the order of the file, each with its place.
  public let problems: [Problem]

  /// Reads a text. O(n).
  public init(_ text: String) {
    let document = YAMLDocument(text)
    guard let root = document.root else {
      definition = WatchDefinition()
      problems = document.problems
      return
    }
    var reader = WatchFileReader()
    definition = reader.read(root)
    problems = (document.problems + reader.findings.problems).inFileOrder
  }
}

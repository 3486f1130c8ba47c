public import PipelineModel

/// A session file as read, YAML or JSON: what it says, and everything that is wrong with it. It is
/// fit to be mixed only when `problems` is empty.
///
/// An app writes more into its sessions than a mixer needs: keys that are not known are let be,
/// unless they look like a slip.
public struct ParsedSession: Hashable, Sendable {
  /// What the file says, as far as it can be read.
  public let definition: SessionDefinition
  /// What is wrong, in the order of the file, each with its place.
  public let problems: [Problem]

  /// Reads UTF-8. O(n).
  public init(_ bytes: [UInt8]) { self.init(YAMLDocument(bytes)) }

  /// Reads a text. O(n).
  public init(_ text: String) { self.init(YAMLDocument(text)) }

  private init(_ document: YAMLDocument) {
    guard let root = document.root else {
      definition = SessionDefinition()
      problems = document.problems
      return
    }
    var reader = SessionReader()
    definition = reader.read(root)
    problems = (document.problems + reader.findings.problems).inFileOrder
  }
}

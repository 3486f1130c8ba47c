public import PipelineModel

/// A pipeline file as read: the definition, and everything that is wrong with it.
///
/// It is fit to run only when `problems` is empty. The definition is there with problems as well,
/// as far as it goes, so that what it says can be checked against the stage kinds at once.
public struct ParsedPipeline: Hashable, Sendable {
  /// What the file says; nil when it says too little: broken YAML, no mapping, or no stage.
  public let definition: PipelineDefinition?
  /// What is wrong, in the order of the file, each with its place.
  public let problems: [Problem]

  /// Reads UTF-8. `knownKinds` only makes messages better: whether a kind exists is not checked
  /// here. O(n) in bytes and used aliases.
  public init(_ bytes: [UInt8], knownKinds: [String] = []) {
    self.init(YAMLDocument(bytes), knownKinds: knownKinds)
  }

  /// Reads a text; see `init(_:knownKinds:)` for bytes.
  public init(_ text: String, knownKinds: [String] = []) {
    self.init(YAMLDocument(text), knownKinds: knownKinds)
  }

  private init(_ document: YAMLDocument, knownKinds: [String]) {
    guard let root = document.root else {
      definition = nil
      problems = document.problems
      return
    }
    var reader = PipelineReader(knownKinds: knownKinds)
    definition = reader.read(root)
    problems = (document.problems + reader.findings.problems).inFileOrder
  }
}

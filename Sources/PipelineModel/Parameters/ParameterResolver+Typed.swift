/// Reads values of the command line. One for a text, a number or a word is what was typed, with every
/// character: `#` begins no comment, `~` is not nothing, and quotation marks are part of it. Lists and
/// mappings are typed as YAML.
extension ParameterResolver {
  /// The node that a typed value stands for where this type is wanted; any other node itself. Nil if it
  /// is wrong YAML, which is a problem.
  mutating func node(
    typed node: DocumentNode, as type: ParameterType, name: String
  ) -> DocumentNode? {
    guard case .typed(let text) = node.content else { return node }
    let word = DocumentNode(.scalar(text, isQuoted: false), at: node.location)
    switch type {
    case .list(let element, _):
      let document = YAMLDocument(text)
      guard let root = document.root, document.problems.isEmpty else {
        guard text.hasPrefix("[") else { return node }
        report(document, at: node, name, type)
        return nil
      }
      switch root.content {
      case .sequence, .scalar(_, isQuoted: true): return root.moved(to: node.location)
      case .mapping where element.isMapping: return root.moved(to: node.location)
      // A single element, which is typed without the list.
      default: return node
      }
    case .group, .named:
      let document = YAMLDocument(text)
      guard let root = document.root, document.problems.isEmpty else {
        report(document, at: node, name, type)
        return nil
      }
      if case .mapping = root.content { return root.moved(to: node.location) }
      return word
    case .number, .integer, .range, .choice, .flag, .text, .command, .fileName, .path: return word
    }
  }

  /// All parameters of a stage as typed; any other node itself. A value that is no mapping of them is
  /// one of the member that stands for all.
  func mapping(
    typed node: DocumentNode, of members: [ParameterDescriptor], shorthand: String?
  ) -> DocumentNode {
    guard case .typed(let text) = node.content else { return node }
    guard let root = YAMLDocument(text).root, case .mapping(let entries) = root.content,
      shorthand == nil || entries.allSatisfy({ entry in members.contains { $0.name == entry.key } })
    else { return node }
    return root.moved(to: node.location)
  }

  private mutating func report(
    _ document: YAMLDocument, at node: DocumentNode, _ name: String, _ type: ParameterType
  ) {
    let reason = document.problems.first.map { ": \($0.message)" } ?? ""
    report(node, "\(name) cannot be read as YAML\(reason)", allowed: type.allowed)
  }
}

extension ParameterType {
  fileprivate var isMapping: Bool {
    switch self {
    case .group, .named: true
    default: false
    }
  }
}

extension DocumentNode {
  /// The node as a value of `--set name=`: a single value as it is, a list or a mapping as YAML in one
  /// line.
  package var overrideText: String {
    switch content {
    case .scalar(let text, _), .typed(let text): text
    case .sequence, .mapping: flowText
    }
  }

  private var flowText: String {
    switch content {
    case .scalar(let text, isQuoted: false): text
    case .scalar(let text, isQuoted: true), .typed(let text): Value.text(text).canonicalJSON
    case .sequence(let nodes): "[" + nodes.map(\.flowText).joined(separator: ", ") + "]"
    case .mapping(let entries):
      "{"
        + entries.map { Value.text($0.key).canonicalJSON + ": " + $0.value.flowText }
        .joined(separator: ", ") + "}"
    }
  }
}

/// What a file of the user defines, as far as it is readable, and every error in it. It can be used
/// only if `problems` is empty; with errors, it can still be checked further at once.
package struct Parsed<Definition: Hashable & Sendable>: Hashable, Sendable {
  package let definition: Definition
  /// In the order of the file, each with its place.
  package let problems: [Problem]

  /// - Parameter empty: the definition if the text is no YAML.
  init(
    _ document: YAMLDocument, empty: Definition,
    read: (inout DocumentReader, DocumentNode) -> Definition
  ) {
    guard let root = document.root else {
      (definition, problems) = (empty, document.problems)
      return
    }
    var reader = DocumentReader()
    definition = read(&reader, root)
    problems = (document.problems + reader.problems).inFileOrder
  }
}

/// Reads a document's nodes as the parts of a definition, and collects every problem. Each method
/// returns nil or an empty list for a part that cannot be read, with a problem.
struct DocumentReader {
  private(set) var problems: [Problem] = []
  /// The stage kinds, for messages; empty if unknown.
  var knownKinds: [String] = []
  /// The names that occur already and must be unique: of steps, or of a session's channels.
  private var names: Set<String> = []

  mutating func report(
    _ location: SourceLocation, _ message: String, allowed: String? = nil,
    suggestion: String? = nil
  ) {
    problems.append(Problem(at: location, message, allowed: allowed, suggestion: suggestion))
  }

  /// Reports a key that `owner` does not have.
  /// - Returns: the key that was probably meant.
  @discardableResult
  mutating func reportUnknown(
    _ entry: DocumentNode.Entry, among keys: Vocabulary, of owner: String, is what: String = "part"
  ) -> String? {
    let meant = keys.nearest(to: entry.key)
    report(
      entry.location, "\"\(entry.key)\" is not a \(what) of \(owner)", allowed: keys.list,
      suggestion: meant)
    return meant
  }

  /// The entries of the root.
  /// - Parameter subject: what the file is, with an article: `a pipeline`, `the file`.
  mutating func rootEntries(
    _ root: DocumentNode, of subject: String, _ keys: Vocabulary
  ) -> [DocumentNode.Entry]? {
    if case .mapping(let entries) = root.content { return entries }
    report(
      root.location,
      root.isNull
        ? "the \(subject.split(separator: " ").last ?? "") is empty"
        : "\(subject) is a mapping, not \(root.summary)", allowed: keys.list)
    return nil
  }

  /// The items of a list with at least one.
  mutating func items(_ node: DocumentNode, of key: String, allowed: String) -> [DocumentNode] {
    if case .sequence(let items) = node.content {
      if items.isEmpty { report(node.location, "\(key) is an empty list", allowed: allowed) }
      return items
    }
    report(node.location, "\(key) is \(node.summary)", allowed: allowed)
    return []
  }

  /// The value of `key` as text.
  mutating func text(
    _ node: DocumentNode, of key: String, allowed: String = "text"
  ) -> String? {
    if case .scalar(let text, _) = node.content, !node.isNull { return text }
    report(
      node.location, node.isNull ? "\(key) has no value" : "\(key) is \(node.summary)",
      allowed: allowed)
    return nil
  }

  /// The value of `key` as text with its place.
  mutating func located(
    _ entry: DocumentNode.Entry, allowed: String = "a path"
  ) -> Located<String>? {
    text(entry.value, of: entry.key, allowed: allowed).map { Located($0, at: entry.value.location) }
  }

  /// The value of `key` as `parse` reads it.
  /// - Parameter words: the words to suggest.
  mutating func value<Value>(
    _ node: DocumentNode, of key: String, allowed: String, words: [String] = [],
    _ parse: (String) -> Value?
  ) -> Value? {
    guard let text = text(node, of: key, allowed: allowed) else { return nil }
    if let value = parse(text) { return value }
    report(
      node.location, "\(key) is \"\(text)\"", allowed: allowed,
      suggestion: Problem.nearest(to: text, in: words))
    return nil
  }

  /// The entries of a mapping; none for null.
  mutating func entries(
    _ node: DocumentNode, of key: String, allowed: String
  ) -> [DocumentNode.Entry]? {
    if case .mapping(let entries) = node.content { return entries }
    if node.isNull { return [] }
    report(node.location, "\(key) is \(node.summary)", allowed: "a mapping: \(allowed)")
    return nil
  }

  /// The value of `key` as a name. An invalid one is reported, and still returned.
  mutating func name(_ node: DocumentNode, of key: String, rule: NameRule) -> String? {
    guard let name = text(node, of: key, allowed: rule.allowed) else { return nil }
    checkName(name, at: node.location, what: "a value of \(key)", rule: rule)
    return name
  }

  /// Reports an invalid name.
  mutating func checkName(
    _ name: String, at location: SourceLocation, what: String, rule: NameRule = .step
  ) {
    guard !rule.allows(name) else { return }
    report(location, "\"\(name)\" cannot be \(what)", allowed: rule.allowed)
  }

  /// Reports a name that occurs before.
  /// - Parameter owners: what has the names: `steps`.
  mutating func checkUnique(
    _ name: String, at location: SourceLocation, of owners: String, allowed: String
  ) {
    if names.insert(name).inserted { return }
    report(location, "two \(owners) are called \"\(name)\"", allowed: allowed)
  }

  /// The value of `key` as YAML 1.2's boolean.
  mutating func flag(_ node: DocumentNode, of key: String) -> Bool? {
    let allowed = "true, false"
    if case .scalar(let text, isQuoted: false) = node.content {
      if ["true", "True", "TRUE"].contains(text) { return true }
      if ["false", "False", "FALSE"].contains(text) { return false }
    }
    guard let text = text(node, of: key, allowed: allowed) else { return nil }
    // The booleans of YAML 1.1.
    let meant = ["yes": "true", "on": "true", "no": "false", "off": "false"][text.lowercased()]
    report(
      node.location, "\(key) is \"\(text)\"", allowed: allowed,
      suggestion: meant ?? Problem.nearest(to: text, in: ["true", "false"]))
    return nil
  }

  /// The value of `key` as a whole number.
  mutating func integer(
    _ node: DocumentNode, of key: String, within range: ClosedRange<Int>
  ) -> Int? {
    let allowed = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    return value(node, of: key, allowed: allowed) { text in
      Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// The value of `key` within the limits of its unit, in the base unit.
  mutating func number(
    _ entry: DocumentNode.Entry, _ unit: Unit, _ range: ClosedRange<Double>
  ) -> Double? {
    let allowed = ParameterType.number(unit, range).allowed
    return value(entry.value, of: entry.key, allowed: allowed) { text in
      (try? unit.parse(text)).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// The value of `key` as a time above zero, in seconds.
  mutating func duration(_ node: DocumentNode, of key: String) -> Double? {
    let allowed = "a time above zero, such as 90 s, 10 min or 1.5 h"
    return value(node, of: key, allowed: allowed) { text in
      (try? Unit.seconds.parse(text)).flatMap { $0 > 0 ? $0 : nil }
    }
  }
}

/// The words allowed in one place, in the order of messages, and common synonyms.
struct Vocabulary {
  let words: [String]
  private let synonyms: [String: String]

  init(_ words: [String], synonyms: [String: String] = [:]) {
    self.words = words
    self.synonyms = synonyms
  }

  /// For a message.
  var list: String { words.joined(separator: ", ") }

  func nearest(to word: String) -> String? {
    synonyms[word.lowercased()] ?? Problem.nearest(to: word, in: words)
  }
}

/// The characters of a name. Names are used in file names and in `step.port`.
enum NameRule {
  /// A pipeline's name: dots are allowed.
  case pipeline
  /// The name of a step, a stage kind, an input or a variable.
  case step

  var allowed: String {
    switch self {
    case .pipeline: "letters a–z, digits, -, _ and ., beginning with a letter or digit"
    case .step: "letters a–z, digits, - and _, beginning with a letter or digit"
    }
  }

  func allows(_ name: some StringProtocol) -> Bool {
    let others = self == .pipeline ? "-_." : "-_"
    func isAlphanumeric(_ scalar: Unicode.Scalar) -> Bool {
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9": true
      default: false
      }
    }
    guard let first = name.unicodeScalars.first, isAlphanumeric(first) else { return false }
    return name.unicodeScalars.allSatisfy {
      isAlphanumeric($0) || others.unicodeScalars.contains($0)
    }
  }
}

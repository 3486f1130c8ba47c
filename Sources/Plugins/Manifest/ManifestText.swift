package import PipelineModel
import Platform

/// A parsed manifest and all of its problems.
package struct ManifestText: Sendable {
  /// Nil if there is any problem.
  package let manifest: PluginManifest?
  /// The problems, each with its location.
  package let problems: [Problem]
  /// The manifest as far as it is understood, for finding further problems.
  let sketch: PluginManifest?
  /// The document; nil if the text is not YAML.
  let root: DocumentNode?
  /// Locations of unclear values, for which `sketch` has placeholders.
  let unclear: Set<SourceLocation>

  /// Parses a text. O(n).
  package init(_ text: String) {
    let document = YAMLDocument(text)
    guard let written = document.root, document.problems.isEmpty else {
      manifest = nil
      sketch = nil
      problems = document.problems
      root = nil
      unclear = []
      return
    }
    let root = ManifestForm.spelledOut(written)
    self.root = root
    var resolver = ParameterResolver(owner: "the manifest")
    let value = resolver.resolve(root, as: ManifestForm.plugin)
    var filling = ManifestFilling()
    let whole = filling.fill(value, as: ManifestForm.plugin)
    guard
      let draft = try? ManifestDraft(jsonText: whole.canonicalJSON)
    else {
      manifest = nil
      sketch = nil
      problems = ManifestCommas(in: root).explained(resolver.problems)
      unclear = []
      return
    }
    unclear = Set(resolver.problems.compactMap(\.location))
    var reader = ManifestReader(root: root, unclear: unclear)
    let manifest = reader.manifest(from: draft)
    problems = ManifestCommas(in: root).explained(resolver.problems) + reader.problems
    sketch = manifest
    self.manifest = problems.isEmpty ? manifest : nil
  }
}

/// Keys that are the rest of an unquoted text with a comma: `{ help: gain, before the curve }`.
private struct ManifestCommas {
  /// The text and its key, by the place of what stands behind its first comma.
  private var texts: [SourceLocation: (key: String, text: String)] = [:]
  /// What stands behind further commas of a text.
  private var rests: Set<SourceLocation> = []

  init(in root: DocumentNode) { look(in: root) }

  private mutating func look(in node: DocumentNode) {
    switch node.content {
    case .scalar, .typed: break
    case .sequence(let nodes): for inner in nodes { look(in: inner) }
    case .mapping(let entries):
      var start: SourceLocation?
      for (before, entry) in zip(entries, entries.dropFirst()) {
        guard entry.value.content == .scalar("", isQuoted: false) else {
          start = nil
          continue
        }
        if let start {
          texts[start]?.text += ", \(entry.key)"
          rests.insert(entry.location)
        } else if case .scalar(let text, isQuoted: false) = before.value.content, !text.isEmpty {
          start = entry.location
          texts[entry.location] = (before.key, "\(text), \(entry.key)")
        }
      }
      for entry in entries { look(in: entry.value) }
    }
  }

  /// Problems with unknown keys, told as what they are. A key that resembles a known one stays.
  func explained(_ problems: [Problem]) -> [Problem] {
    problems.compactMap { problem in
      guard problem.suggestion == nil, let location = problem.location else { return problem }
      if rests.contains(location) { return nil }
      guard let (key, text) = texts[location] else { return problem }
      return Problem(
        at: location, "\(problem.message): it stands behind a comma, where \(key) ends",
        allowed: "quotation marks around a text with a comma, \(key): "
          + JSONValue.text(text).compact)
    }
  }
}

/// A manifest whose single values are valid but may contradict each other.
struct ManifestDraft: Decodable {
  let plugin: String
  let version: String
  let `protocol`: Int
  let summary: String
  let run: [String]?
  let library: String?
  let needs: Needs
  let limits: Limits
  let deterministic: Bool
  let stages: [Kind]

  struct Needs: Decodable {
    let programs: [String]?
    let python: [String]?
  }

  struct Limits: Decodable {
    let memory: Int
    let time: Double
    let network: Bool
    let reads: [String]?
  }

  struct Kind: Decodable {
    let kind: String
    let type: PluginManifest.Work
    let revision: Int
    let summary: String
    let discussion: String
    let inputs: [PluginManifest.FilePort]?
    let outputs: [PluginManifest.FilePort]?
    let parameters: [Parameter]?
  }

  struct Parameter: Decodable {
    let name: String
    let help: String
    let unit: String
    let range: [Double]?
    let whole: Bool
    let choices: [String]?
    let flag: Bool
    let text: Int?
    let command: Int?
    let path: Bool
    let `default`: String?
    let required: Bool
  }
}

/// Fills in missing and unclear values, so that one pass finds all problems.
struct ManifestFilling {
  private var count = 0

  /// Completes a group with placeholders for its required members.
  mutating func fill(_ value: Value, as members: [ParameterDescriptor]) -> Value {
    guard case .group(var values) = value else { return value }
    for member in members {
      let given = values[member.name] ?? .null
      values[member.name] =
        given == .null && member.presence != .optional
        ? stopgap(for: member.type) : fill(given, as: member.type)
    }
    return .group(values)
  }

  private mutating func fill(_ value: Value, as type: ParameterType) -> Value {
    switch (value, type) {
    case (.group, .group(let members)): return fill(value, as: members)
    case (.list(let values), .list(let element, _)):
      return .list(
        values.map { $0 == .null ? stopgap(for: element) : fill($0, as: element) })
    case (.text(let word), .choice(let words)):
      return words.contains(word) ? value : stopgap(for: type)
    default: return value
    }
  }

  /// A valid value; for a name, a unique one.
  private mutating func stopgap(for type: ParameterType) -> Value {
    switch type {
    case .number, .integer, .choice, .flag: return type.least ?? .text("")
    case .list: return .list([])
    case .named, .range: return .group([:])
    case .group(let members): return fill(.group([:]), as: members)
    case .text, .command, .fileName, .path:
      count += 1
      return .text("unnamed-\(count)")
    }
  }
}

/// The schema of manifests, declared like stage parameters: the resolver of pipelines reads it,
/// too.
enum ManifestForm {
  private static let line = ParameterType.text(maximumLength: 200)
  private static let paragraph = ParameterType.text(maximumLength: 4000)
  private static let number = ParameterType.number(.number, -1e12...1e12)

  static let plugin = [
    ParameterDescriptor("plugin", line, .required, "its name"),
    ParameterDescriptor("version", line, .required, "its version"),
    ParameterDescriptor("protocol", .integer(1...1_000_000), .required, "what it speaks"),
    ParameterDescriptor("summary", line, .required, "one line for people"),
    ParameterDescriptor(
      "run", .list(of: .text(maximumLength: 4096), count: 1...100), .optional,
      "the program and its arguments"),
    ParameterDescriptor(
      "library", .text(maximumLength: 4096), .optional, "a shared library in place of a program"),
    ParameterDescriptor("needs", .group(needs), .defaulted(""), "what must be there"),
    ParameterDescriptor("limits", .group(limits), .defaulted(""), "what it may use"),
    ParameterDescriptor("deterministic", .flag, .defaulted("true"), "same input, same bytes"),
    ParameterDescriptor(
      "stages", .list(of: .group(kind), count: 1...100), .required, "the kinds it offers"),
  ]

  private static let needs = [
    ParameterDescriptor(
      "programs", .list(of: line, count: 0...100), .optional, "programs on PATH"),
    ParameterDescriptor(
      "python", .list(of: line, count: 0...100), .optional,
      "packages of Python, as they are imported"),
  ]

  /// Expands the short form `needs: [sox]` to `needs: { programs: [sox] }`.
  static func spelledOut(_ root: DocumentNode) -> DocumentNode {
    guard case .mapping(let entries) = root.content else { return root }
    let whole = entries.map { entry -> DocumentNode.Entry in
      if case .mapping = entry.value.content { return entry }
      guard entry.key == "needs", !entry.value.isNull else { return entry }
      let programs = DocumentNode.Entry(
        key: "programs", location: entry.location, value: entry.value)
      return DocumentNode.Entry(
        key: entry.key, location: entry.location,
        value: DocumentNode(.mapping([programs]), at: entry.value.location))
    }
    return DocumentNode(.mapping(whole), at: root.location)
  }

  private static let limits = [
    ParameterDescriptor(
      "memory", .integer(16...1_048_576), .defaulted("4096"), "megabytes of address space"),
    ParameterDescriptor(
      "time", .number(.seconds, 0.1...86_400), .defaulted("60 s"), "for one answer"),
    ParameterDescriptor("network", .flag, .defaulted("false"), "whether it may use the network"),
    ParameterDescriptor(
      "reads", .list(of: .text(maximumLength: 4096), count: 0...100), .optional,
      "more that it may read"),
  ]

  private static let kind = [
    ParameterDescriptor("kind", line, .required, "the word that pipelines use"),
    ParameterDescriptor("type", .choice(["sound", "file"]), .required, "how it works"),
    ParameterDescriptor("revision", .integer(1...1_000_000), .defaulted("1"), "its revision"),
    ParameterDescriptor("summary", line, .required, "one line for people"),
    ParameterDescriptor("discussion", paragraph, .defaulted(""), "more for people"),
    ParameterDescriptor(
      "inputs", .list(of: .group(port), count: 0...20), .optional, "what a file stage reads"),
    ParameterDescriptor(
      "outputs", .list(of: .group(port), count: 0...20), .optional, "what a file stage writes"),
    ParameterDescriptor(
      "parameters", .list(of: .group(parameter), count: 0...1000), .optional, "what can be set"),
  ]

  private static let port = [
    ParameterDescriptor("name", line, .required, "its name"),
    ParameterDescriptor(
      "carries", .choice(["sound", "transcript", "measurement", "file"]), .required,
      "what it carries"),
    ParameterDescriptor("help", line, .defaulted(""), "one line for people"),
    ParameterDescriptor("optional", .flag, .defaulted("false"), "whether it may be missing"),
    ParameterDescriptor(
      "file-name", .fileName(fields: ["stem"]), .optional, "what the user's file is called"),
    ParameterDescriptor(
      "sample-rate", .number(.hertz, 1000...768_000), .optional, "the rate that sound is wanted in"),
    ParameterDescriptor(
      "channels", .integer(1...1), .optional, "how many channels are wanted"),
  ]

  private static let parameter = [
    ParameterDescriptor("name", line, .required, "its name"),
    ParameterDescriptor("help", line, .required, "one line of help"),
    ParameterDescriptor("unit", line, .defaulted(""), "its unit"),
    ParameterDescriptor("range", .list(of: number, count: 2...2), .optional, "the least and most"),
    ParameterDescriptor("whole", .flag, .defaulted("false"), "a whole number"),
    ParameterDescriptor("choices", .list(of: line, count: 1...1000), .optional, "one of these"),
    ParameterDescriptor("flag", .flag, .defaulted("false"), "true or false"),
    ParameterDescriptor("text", .integer(1...100_000), .optional, "text of so many characters"),
    ParameterDescriptor(
      "command", .integer(1...100_000), .optional,
      "a program and its arguments, of so many characters"),
    ParameterDescriptor("path", .flag, .defaulted("false"), "the path of a file"),
    ParameterDescriptor("default", line, .optional, "its value where it is left out"),
    ParameterDescriptor("required", .flag, .defaulted("false"), "whether it must be given"),
  ]
}

extension ParameterType {
  /// The smallest number, the first word, or false. Nil for types that do not state their values:
  /// texts, files, lists, groups.
  var least: Value? {
    switch self {
    case .number(let unit, let range): .number(range.lowerBound * unit.factor)
    case .integer(let range): .number(Double(range.lowerBound))
    case .choice(let words): words.first.map { .text($0) }
    case .flag: .flag(false)
    case .range, .text, .command, .fileName, .path, .list, .group, .named: nil
    }
  }
}

/// A path into a document; if the node is missing, its nearest enclosing node gives the location.
struct ManifestPlace {
  private let node: DocumentNode?
  let location: SourceLocation

  init(_ node: DocumentNode) {
    self.node = node
    location = node.location
  }

  private init(_ node: DocumentNode?, or location: SourceLocation) {
    self.node = node
    self.location = node?.location ?? location
  }

  var isThere: Bool { node != nil }

  /// The locations of the node and everything in it.
  var locations: Set<SourceLocation> { node.map(Self.locations) ?? [location] }

  private static func locations(_ node: DocumentNode) -> Set<SourceLocation> {
    var found: Set = [node.location]
    switch node.content {
    case .scalar, .typed: break
    case .sequence(let nodes): for inner in nodes { found.formUnion(locations(inner)) }
    case .mapping(let entries):
      for entry in entries { found.formUnion(locations(entry.value).union([entry.location])) }
    }
    return found
  }

  /// Whether it is an unquoted number.
  var isNumber: Bool {
    guard case .scalar(let text, isQuoted: false) = node?.content else { return false }
    return Double(text) != nil
  }

  subscript(name: String) -> ManifestPlace {
    guard case .mapping(let entries) = node?.content else {
      return ManifestPlace(nil, or: location)
    }
    return ManifestPlace(entries.first { $0.key == name }?.value, or: location)
  }

  subscript(index: Int) -> ManifestPlace {
    switch node?.content {
    case .sequence(let nodes) where index < nodes.count: ManifestPlace(nodes[index])
    // A list of one element may be written without the list.
    case .mapping where index == 0, .scalar where index == 0: self
    default: ManifestPlace(nil, or: location)
    }
  }
}

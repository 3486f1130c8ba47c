import Platform

/// A part of a YAML document with its place. The reader of a scalar decides what it means (a
/// number, a unit, a name); only YAML's own null and booleans are fixed.
package struct DocumentNode: Hashable, Sendable {
  package indirect enum Content: Hashable, Sendable {
    /// A single value as written. A quoted one is always text.
    case scalar(String, isQuoted: Bool)
    /// A value of the command line as typed: the value itself, or YAML where a list or a mapping is
    /// wanted. What is wanted is known where it is used.
    case typed(String)
    /// An ordered list.
    case sequence([DocumentNode])
    /// Keys and values in the order written, each key once.
    case mapping([Entry])
  }

  package struct Entry: Hashable, Sendable {
    package let key: String
    package let location: SourceLocation
    package let value: DocumentNode

    package init(key: String, location: SourceLocation, value: DocumentNode) {
      self.key = key
      self.location = location
      self.value = value
    }
  }

  package let content: Content
  package let location: SourceLocation

  package init(_ content: Content, at location: SourceLocation) {
    self.content = content
    self.location = location
  }

  /// True or false as a condition takes it; nil for anything else.
  package var boolean: Bool? {
    switch content {
    case .scalar("true", _), .typed("true"): true
    case .scalar("false", _), .typed("false"): false
    default: nil
    }
  }

  /// The texts of a list, or a single one; empty where it is anything else.
  package var texts: [String] {
    switch content {
    case .scalar(let text, _): [text]
    case .typed(let text): text.hasPrefix("[") ? YAMLDocument(text).root?.texts ?? [] : [text]
    case .sequence(let nodes): nodes.flatMap(\.texts)
    case .mapping: []
    }
  }

  package var isList: Bool { if case .sequence = content { true } else { false } }

  /// Whether the node is YAML's null: empty, `~` or `null`, unquoted.
  package var isNull: Bool {
    if case .scalar(let text, isQuoted: false) = content {
      return ["", "~", "null", "Null", "NULL"].contains(text)
    }
    return false
  }

  /// Where the value of nested keys is; nil if there is none. O(entries).
  func location(of path: [String]) -> SourceLocation? {
    guard let key = path.first else { return location }
    guard case .mapping(let entries) = content else { return nil }
    return entries.first { $0.key == key }?.value.location(of: Array(path.dropFirst()))
  }

  /// The names in it that `$name` refers to, in order. O(n).
  package var references: [String] {
    switch content {
    case .scalar(let text, isQuoted: false): Self.reference(text[...]).map { [$0] } ?? []
    case .scalar, .typed: []
    case .sequence(let nodes): nodes.flatMap(\.references)
    case .mapping(let entries): entries.flatMap(\.value.references)
    }
  }

  /// The name that a text of the form `$name` refers to; nil for any other text.
  static func reference(_ text: Substring) -> String? {
    text.first == "$" ? String(text.dropFirst()) : nil
  }

  /// For messages: `a list`, `a mapping`, `"text"`.
  package var summary: String {
    switch content {
    case .scalar where isNull: "nothing"
    case .scalar(let text, _), .typed(let text): "\"\(text)\""
    case .sequence: "a list"
    case .mapping: "a mapping"
    }
  }
}

package struct SourceLocation: Hashable, Sendable, Comparable, Codable {
  /// The line, from 1.
  package let line: Int
  /// The column in characters, from 1.
  package let column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  package static func < (a: SourceLocation, b: SourceLocation) -> Bool {
    (a.line, a.column) < (b.line, b.column)
  }
}

/// An error in a pipeline file: where, what was found, what is allowed, and the nearest known word.
package struct Problem: Error, Hashable, Codable {
  /// Nil if the error is not in the file (a missing input, say).
  package let location: SourceLocation?
  /// The variable whose override is wrong; nil if the error is elsewhere.
  package private(set) var override: String?
  /// What was found, as one sentence without a full stop: `"treshold" is not a parameter of gate`.
  package let message: String
  /// The expectation: `allowed: threshold, attack, hold, release, range`.
  package let allowed: String?
  /// The nearest known word.
  package let suggestion: String?

  package init(
    at location: SourceLocation?, _ message: String, allowed: String? = nil,
    suggestion: String? = nil
  ) {
    self.location = location
    self.message = message
    self.allowed = allowed
    self.suggestion = suggestion
  }

  /// The same error in the override of a variable.
  func inOverride(of variable: String) -> Problem {
    var problem = Problem(at: nil, message, allowed: allowed, suggestion: suggestion)
    problem.override = variable
    return problem
  }

  /// The formats that hold the sound of a codec which is no format itself, by the codec's name.
  private static let formatsByCodec = ["aac": "m4a", "vorbis": "ogg", "lame": "mp3"]

  /// The name of the file that was probably meant by a path of none: one in the same folder; nil if none
  /// is near. O(files there).
  static func nearestFile(to path: String) -> String? {
    guard let name = path.pathNames.last else { return nil }
    return nearest(to: name, in: FilePath.names(in: FilePath.folder(of: path)).sorted())
  }

  /// The word with the fewest edits from `word`, if it is near enough; nearer still if they begin
  /// differently. Else the one that `word` is short for: `freq`.
  package static func nearest(to word: String, in words: [String]) -> String? {
    let word = word.lowercased()
    if let format = formatsByCodec[word], words.contains(format) { return format }
    let near = words.map { ($0, editDistance(word, $0.lowercased())) }
      .filter { candidate, distance in
        let beginsAlike = word.prefix(2) == candidate.lowercased().prefix(2)
        return distance <= max(1, word.count / (beginsAlike ? 2 : 3))
      }
      .min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
    return near ?? (word.count < 3 ? nil : words.first { $0.lowercased().hasPrefix(word) })
  }
}

extension DocumentNode {
  /// The same node and all nodes in it, at one place.
  func moved(to location: SourceLocation) -> DocumentNode {
    switch content {
    case .scalar, .typed: DocumentNode(content, at: location)
    case .sequence(let nodes):
      DocumentNode(.sequence(nodes.map { $0.moved(to: location) }), at: location)
    case .mapping(let entries):
      DocumentNode(
        .mapping(
          entries.map {
            Entry(key: $0.key, location: location, value: $0.value.moved(to: location))
          }), at: location)
    }
  }

  /// YAML's null, for a missing value.
  static func null(at location: SourceLocation) -> DocumentNode {
    DocumentNode(.scalar("", isQuoted: false), at: location)
  }
}

extension [Problem] {
  /// By place; those at one place, and those without, in the order found.
  package var inFileOrder: [Problem] {
    let end = SourceLocation(line: .max, column: .max)
    return enumerated()
      .sorted { ($0.element.location ?? end, $0.offset) < ($1.element.location ?? end, $1.offset) }
      .map(\.element)
  }
}

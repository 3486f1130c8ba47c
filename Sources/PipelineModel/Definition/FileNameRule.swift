import Platform

/// The rule for templates of exported files' names.
package struct FileNameRule {
  package static let maximumLength = 200

  let fields: [String]

  /// What is wrong with a template: each message ends a sentence that begins with the parameter.
  func flaws(of template: String) -> [(message: String, allowed: String, suggestion: String?)] {
    let choice = fields.map { "{\($0)}" }.joined(separator: ", ")
    var flaws: [(message: String, allowed: String, suggestion: String?)] = []
    if template.count > Self.maximumLength {
      flaws.append(
        (
          "is too long (\(template.count) characters)",
          "text of at most \(Self.maximumLength) characters", nil
        ))
    }
    if template.contains("/") || template == "." || template == ".." {
      flaws.append(
        (
          "is one file's name, and \"\(template)\" leads to a folder",
          "a name without /; \(option: .out) chooses the folder", nil
        ))
    }
    let safe = ExportName.safe(template)
    if template.allSatisfy(\.isWhitespace) {
      flaws.append(("is empty", "a name; \(choice)", nil))
    } else if safe != template, flaws.isEmpty {
      flaws.append(
        (
          "cannot be \(JSONString.quoted(template))",
          "a name of at most 200 bytes that does not begin with . or -, without \\, control "
            + "characters and spaces at its ends", safe
        ))
    }
    var rest = template[...]
    while let opening = rest.firstIndex(of: "{") {
      guard let closing = rest[opening...].firstIndex(of: "}") else {
        flaws.append(("has a brace that is not closed: \"\(template)\"", choice, nil))
        break
      }
      let field = String(rest[rest.index(after: opening)..<closing])
      if !fields.contains(field) {
        let near = Problem.nearest(to: field, in: fields)
        flaws.append(("has no field {\(field)}", choice, near.map { "{\($0)}" }))
      }
      rest = rest[rest.index(after: closing)...]
    }
    return flaws
  }
}

/// Safe names for files that leave the store, whatever a recording's name or metadata contains.
package enum ExportName {
  /// The longest name in bytes, so that an extension and a temporary suffix still fit into 255.
  private static let maximumByteCount = 200

  /// A recording's name without folder and extension.
  package static func stem(of path: String?) -> String { safe(plainStem(of: path)) }

  /// The same as the file has it, which may not be safe.
  package static func plainStem(of path: String?) -> String {
    let name = path?.pathNames.last ?? ""
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
    return String(name[..<dot])
  }

  /// A template with the recording's name in it, which is cut where the whole would be too long: what
  /// the template adds tells files apart.
  package static func fill(_ template: String, recording: String?) -> String {
    let parts = template.split(separator: "{stem}", omittingEmptySubsequences: false)
    let literalByteCount = parts.reduce(0) { $0 + $1.utf8.count }
    let room = (maximumByteCount - literalByteCount) / max(1, parts.count - 1)
    var stem = stem(of: recording)
    while room > 0, stem.utf8.count > room { stem.removeLast() }
    return safe(parts.joined(separator: stem))
  }

  /// A name without separators, control characters or a leading dot, short enough for any file
  /// system.
  package static func safe(_ name: String) -> String {
    var result = ""
    for scalar in name.unicodeScalars {
      let isHarmless =
        scalar.value >= 0x20 && scalar.value != 0x7F && !"/\\\0".contains(Character(scalar))
      result.unicodeScalars.append(isHarmless ? scalar : "_")
    }
    while result.first == " " { result.removeFirst() }
    while result.last == " " { result.removeLast() }
    if result.first == "." || result.first == "-" { result = "_" + result.dropFirst() }
    while result.utf8.count > maximumByteCount { result.removeLast() }
    return result.isEmpty ? "recording" : result
  }
}

/// The id of a step in a pipeline: `eq`, `eq-2`, `master`.
package struct StepID: NameType {
  package let name: String
  package init(_ name: String) { self.name = name }
}

/// The name of a stage kind's input or output.
package struct PortName: NameType {
  package let name: String
  package init(_ name: String) { self.name = name }

  /// The port of sound, which most stages have as input and output.
  package static let sound = PortName("sound")
  package static let measurement = PortName("measurement")
  /// The port at which a run gives words with their corrections: no step names it.
  package static let corrected = PortName("corrected")
}

/// A family of streaming stages whose neighbours may share one pass.
package struct StageFamily: NameType {
  package let name: String
  package init(_ name: String) { self.name = name }
}

/// The id of a run, which sorts by time: `20261121-142205-3f9a`.
package struct RunID: NameType {
  package let name: String
  package init(_ name: String) { self.name = name }
}

/// A name with a type of its own, encoded as a bare string.
package protocol NameType: Hashable, Comparable, Sendable, Codable, CodingKeyRepresentable,
  CustomStringConvertible
{
  var name: String { get }
  init(_ name: String)
}

extension NameType {
  package var description: String { name }
  package static func < (a: Self, b: Self) -> Bool { a.name < b.name }
  package init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }
  package var codingKey: any CodingKey { NameCodingKey(stringValue: name) }
  package init?<T: CodingKey>(codingKey: T) { self.init(codingKey.stringValue) }
}

private struct NameCodingKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

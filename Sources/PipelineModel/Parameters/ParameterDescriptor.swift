import Platform

/// One parameter of a stage kind, declared once: validation, help, the JSON Schema and the
/// reference documentation all derive from it.
package struct ParameterDescriptor: Hashable, Sendable {
  package enum Presence: Hashable, Sendable {
    case required
    /// Optional, without a default.
    case optional
    /// Optional, with this default, written as in a pipeline (`8 ms`). A group's default consists
    /// of its members' defaults, whatever is written here.
    case defaulted(String)
  }

  /// How values count the sources of the step's list, or of the step whose changes it follows.
  package enum Places: Hashable, Sendable {
    /// Elements of a list, one for each source in order.
    case perSource
    /// The number of a source, from 1.
    case source
  }

  /// In kebab case.
  package let name: String
  package let summary: String
  package let type: ParameterType
  package let presence: Presence
  /// Whether it can change the artifacts. One that cannot (how exports are named, say) is in no
  /// key.
  package let isInKey: Bool
  /// Nil if it counts no sources.
  package let places: Places?
  /// Whether names in braces stand for something in its texts, where the pipeline writes them: what a user
  /// or a sidecar sets is taken as it is.
  package let isTemplate: Bool

  package init(
    _ name: String, _ type: ParameterType, _ presence: Presence, _ summary: String,
    isInKey: Bool = true, places: Places? = nil, isTemplate: Bool = false
  ) {
    self.isTemplate = isTemplate
    self.name = name
    self.type = type
    self.presence = presence
    self.summary = summary
    self.isInKey = isInKey
    self.places = places
  }
}

/// The type of a parameter's values.
package indirect enum ParameterType: Hashable, Sendable {
  /// A number; the range is in `unit`.
  case number(Unit, ClosedRange<Double>)
  case integer(ClosedRange<Int>)
  /// A ``NumberRange`` of a number or an integer, both ends within the limits of that.
  case range(of: ParameterType)
  case choice([String])
  case flag
  /// A text of limited length in characters.
  case text(maximumLength: Int)
  /// A program and its arguments as a shell would read them, of limited length in characters. A
  /// program with a slash in it is relative to the pipeline's folder unless absolute.
  case command(maximumLength: Int)
  /// A file name without its extension, with these fields in braces: `{stem}`.
  case fileName(fields: [String])
  /// The path of a file, relative to the pipeline's folder unless absolute.
  case path
  /// A list. A single element may be written without the list.
  case list(of: ParameterType, count: ClosedRange<Int>)
  case group([ParameterDescriptor])
  /// Values under arbitrary names, at most so many: a plugin's controls.
  case named(ParameterType, maximumCount: Int)

  /// For messages and help: `-80 dB … 0 dB`, `one of wav, m4a`.
  package var allowed: String {
    switch self {
    case .number(let unit, let range):
      "\(unit.format(range.lowerBound * unit.factor)) … "
        + unit.format(range.upperBound * unit.factor)
    case .integer(let range): "\(range.lowerBound) … \(range.upperBound)"
    case .range(let element):
      "A .. B, A .., .. B, A ± D, < A, <= A, or A alone, of \(element.allowed)"
    case .choice(let words): words.joined(separator: ", ")
    case .flag: "true, false"
    case .text(let length): "text of at most \(length) characters"
    case .command(let length): "a program and its arguments, of at most \(length) characters"
    case .fileName(let fields):
      "a name without folders; " + fields.map { "{\($0)}" }.joined(separator: ", ")
    case .path: "the path of a file, from the pipeline's folder"
    case .list(let element, let count):
      "a list of \(count.lowerBound) … \(count.upperBound) elements (\(element.allowed))"
    case .group(let members): "a mapping with " + members.map(\.name).joined(separator: ", ")
    case .named(let element, let count):
      "a mapping of at most \(count) names (\(element.allowed))"
    }
  }

  /// A resolved value as a user would type it: `-18 dB`, `[wav, m4a]`, `{ type: peak, gain: 3 dB
  /// }`. A value that does not fit the type, from another version of the stage kind, is shown as
  /// JSON.
  package func text(of value: Value) -> String {
    switch (self, value) {
    case (_, .null): "none"
    case (.number(let unit, _), .number(let number)): unit.format(number)
    case (.choice, .text(let text)), (.text, .text(let text)), (.command, .text(let text)),
      (.fileName, .text(let text)), (.path, .text(let text)):
      ParameterType.scalar(text)
    case (.range(let element), _):
      NumberRange(value).map { $0.text(of: element) } ?? value.canonicalJSON
    case (.list(let element, _), .list(let values)):
      "[" + values.map { element.text(of: $0) }.joined(separator: ", ") + "]"
    case (.group(let members), .group(let values)): ParameterType.text(of: values, members)
    case (.named(let element, _), .group(let values)):
      "{ "
        + values.sorted { $0.key < $1.key }
        .map { "\(ParameterType.scalar($0.key)): \(element.text(of: $0.value))" }
        .joined(separator: ", ") + " }"
    default: value.canonicalJSON
    }
  }

  private static func text(
    of values: [String: Value], _ members: [ParameterDescriptor]
  ) -> String {
    let known = members.compactMap { member in
      values[member.name].flatMap { value in
        value == .null ? nil : "\(member.name): \(member.type.text(of: value))"
      }
    }
    let names = Set(members.map(\.name))
    let others = values.filter { !names.contains($0.key) }.sorted { $0.key < $1.key }
      .map { "\($0.key): \($0.value.canonicalJSON)" }
    return "{ " + (known + others).joined(separator: ", ") + " }"
  }

  /// A YAML scalar of a text, quoted if necessary.
  private static func scalar(_ text: String) -> String {
    let isPlain = text.allSatisfy { $0.isLetter || $0.isNumber || "-_./".contains($0) }
    return isPlain && !text.isEmpty ? text : JSONString.quoted(text)
  }
}

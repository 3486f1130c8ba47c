/// One parameter of a stage kind, declared once: validation, help, the JSON Schema and the
/// reference documentation all derive from it.
public struct ParameterDescriptor: Hashable, Sendable {
  /// Whether it must be given.
  public enum Presence: Hashable, Sendable {
    /// It must be given.
    case required
    /// It may be left out, and then has no value.
    case optional
    /// It may be left out, and then has this value, written as in a pipeline (`8 ms`). A group
    /// is then made of its members' defaults, whatever is written here.
    case defaulted(String)
  }

  /// Its name in pipelines, in kebab case.
  public let name: String
  /// One line of help.
  public let summary: String
  /// What it takes.
  public let type: ParameterType
  /// Whether it must be given.
  public let presence: Presence
  /// Whether it can change the artifacts. One that cannot (how exports are named, say) is in no
  /// key.
  public let isInKey: Bool

  /// Declares a parameter.
  public init(
    _ name: String, _ type: ParameterType, _ presence: Presence, _ summary: String,
    isInKey: Bool = true
  ) {
    self.name = name
    self.type = type
    self.presence = presence
    self.summary = summary
    self.isInKey = isInKey
  }
}

/// What a parameter takes.
public indirect enum ParameterType: Hashable, Sendable {
  /// A number; the range is in `unit`.
  case number(Unit, ClosedRange<Double>)
  /// A whole number.
  case integer(ClosedRange<Int>)
  /// One of some words.
  case choice([String])
  /// `true` or `false`.
  case flag
  /// Any text of at most so many characters.
  case text(maximumLength: Int)
  /// A file's name without its ending, with these fields in braces: `{stem}`.
  case fileName(fields: [String])
  /// The path of a file; one that is not absolute starts from the pipeline's folder.
  case path
  /// A list of so many elements. A single element may be written without the list.
  case list(of: ParameterType, count: ClosedRange<Int>)
  /// Named members.
  case group([ParameterDescriptor])
  /// Values under names that nobody knows beforehand, at most so many: a foreign plugin's controls.
  case named(ParameterType, maximumCount: Int)

  /// For messages and help: `-80 dB … 0 dB`, `one of wav, m4a`.
  public var allowed: String {
    switch self {
    case .number(let unit, let range):
      "\(unit.format(range.lowerBound * unit.factor)) … "
        + unit.format(range.upperBound * unit.factor)
    case .integer(let range): "\(range.lowerBound) … \(range.upperBound)"
    case .choice(let words): words.joined(separator: ", ")
    case .flag: "true, false"
    case .text(let length): "text of at most \(length) characters"
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
}

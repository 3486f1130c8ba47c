/// A value that can be read off the command line.
///
/// An enumeration with string cases conforms by saying so: its cases are the words to choose from.
public protocol ArgumentValue: Sendable {
  /// Reads the text of an argument; nil if it is none of this kind.
  init?(argument: String)
  /// What an argument of this kind is, for a message: `a whole number`.
  static var expectation: String { get }
  /// All the words there are to choose from; empty where they cannot be counted.
  static var choices: [String] { get }
  /// The text that reads as this value.
  var argument: String { get }
}

extension ArgumentValue {
  /// No words to choose from.
  public static var choices: [String] { [] }
}

extension String: ArgumentValue {
  /// Takes any text.
  public init?(argument: String) { self = argument }
  /// Any text.
  public static var expectation: String { "a text" }
  /// The text itself.
  public var argument: String { self }
}

extension Int: ArgumentValue {
  /// Reads decimal digits with an optional sign.
  public init?(argument: String) { self.init(argument) }
  /// A whole number.
  public static var expectation: String { "a whole number" }
  /// Decimal digits.
  public var argument: String { String(self) }
}

extension ArgumentValue where Self: RawRepresentable & CaseIterable, RawValue == String {
  /// Reads the name of a case.
  public init?(argument: String) { self.init(rawValue: argument) }
  /// The names of the cases.
  public static var expectation: String { "one of " + choices.joined(separator: ", ") }
  /// The names of the cases.
  public static var choices: [String] { allCases.map(\.rawValue) }
  /// The name of the case.
  public var argument: String { rawValue }
}

/// What a declaration demands of its values: an ``ArgumentValue`` type without its type.
struct ValueRule: Sendable {
  let expectation: String
  let choices: [String]
  let accepts: @Sendable (String) -> Bool

  init<Value: ArgumentValue>(_ type: Value.Type) {
    expectation = type.expectation
    choices = type.choices
    accepts = { type.init(argument: $0) != nil }
  }

  /// The completion that goes without saying.
  var completion: CompletionHint { choices.isEmpty ? .none : .choices(choices) }
}

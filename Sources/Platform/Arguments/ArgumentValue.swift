/// A value of a command-line argument.
///
/// A string enumeration conforms by declaration: its cases are the choices.
package protocol ArgumentValue: Sendable {
  /// Nil for an invalid text.
  init?(argument: String)
  /// For a message: `a whole number`.
  static var expectation: String { get }
  /// All allowed words; empty for an open set.
  static var choices: [String] { get }
  /// The text of this value.
  var argument: String { get }
}

extension ArgumentValue {
  package static var choices: [String] { [] }
}

extension String: ArgumentValue {
  package init?(argument: String) { self = argument }
  package static var expectation: String { "a text" }
  package var argument: String { self }
}

extension Int: ArgumentValue {
  package init?(argument: String) { self.init(argument) }
  package static var expectation: String { "a whole number" }
  package var argument: String { String(self) }
}

extension ArgumentValue where Self: RawRepresentable & CaseIterable, RawValue == String {
  package init?(argument: String) { self.init(rawValue: argument) }
  package static var expectation: String { "one of " + choices.joined(separator: ", ") }
  package static var choices: [String] { allCases.map(\.rawValue) }
  package var argument: String { rawValue }
}

/// A type-erased ``ArgumentValue`` type.
struct ValueRule: Sendable {
  let expectation: String
  let choices: [String]
  let accepts: @Sendable (String) -> Bool

  init<Value: ArgumentValue>(_ type: Value.Type) {
    expectation = type.expectation
    choices = type.choices
    accepts = { type.init(argument: $0) != nil }
  }

  /// The default completion.
  var completion: CompletionHint { choices.isEmpty ? .none : .choices(choices) }
}

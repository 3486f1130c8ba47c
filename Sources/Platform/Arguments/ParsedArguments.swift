/// The validated arguments of a command.
package struct ParsedArguments: Sendable {
  package let command: CommandDeclaration
  private let optionTexts: [String: [String]]
  private let positionalTexts: [String: [String]]

  init(
    command: CommandDeclaration, optionTexts: [String: [String]],
    positionalTexts: [String: [String]]
  ) {
    self.command = command
    self.optionTexts = optionTexts
    self.positionalTexts = positionalTexts
  }

  /// The value of an option.
  ///
  /// - Precondition: The command, or the program for all its commands, declares the option.
  package subscript<Value>(option: Option<Value>) -> Value {
    guard let texts = optionTexts[option.declaration.name] else {
      preconditionFailure("\(command.name) does not declare \(option.declaration.spelling)")
    }
    return option.read(texts)
  }

  /// The value of an argument known by its place.
  ///
  /// - Precondition: The command declares the argument.
  package subscript<Value>(positional: Positional<Value>) -> Value {
    guard let texts = positionalTexts[positional.declaration.name],
      let value = positional.read(texts)
    else { preconditionFailure("\(command.name) does not declare \(positional.declaration.name)") }
    return value
  }

  /// The texts of an option in order: empty if it was not given, an empty text for a flag.
  package func texts(of option: OptionDeclaration) -> [String] { optionTexts[option.name] ?? [] }

  /// The texts of an argument known by its place, in order.
  package func texts(of positional: PositionalDeclaration) -> [String] {
    positionalTexts[positional.name] ?? []
  }
}

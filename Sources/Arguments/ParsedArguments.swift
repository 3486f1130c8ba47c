/// What the user gave a command: every value has been checked against its declaration.
public struct ParsedArguments: Sendable {
  /// The command that was asked for.
  public let command: CommandDeclaration
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
  public subscript<Value>(option: Option<Value>) -> Value {
    guard let texts = optionTexts[option.declaration.name] else {
      preconditionFailure("\(command.name) does not declare \(option.declaration.spelling)")
    }
    return option.read(texts)
  }

  /// The value of an argument known by its place.
  ///
  /// - Precondition: The command declares the argument.
  public subscript<Value>(positional: Positional<Value>) -> Value {
    guard let texts = positionalTexts[positional.declaration.name],
      let value = positional.read(texts)
    else { preconditionFailure("\(command.name) does not declare \(positional.declaration.name)") }
    return value
  }

  /// What was typed for an option, in the order in which it was: nothing where the option was not given,
  /// and an empty text for a flag that was.
  public func texts(of option: OptionDeclaration) -> [String] { optionTexts[option.name] ?? [] }
}

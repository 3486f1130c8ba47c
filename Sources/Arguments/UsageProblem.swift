/// One thing that is wrong with a command line. What is called nearest is the known word that the
/// user may have meant.
public enum UsageProblem: Hashable, Sendable {
  /// There are options, but no command.
  case missingCommand
  /// A word that names no command.
  case unknownCommand(String, nearest: String?)
  /// An option, spelled as the user did, that the command does not have.
  case unknownOption(String, nearest: String?)
  /// An option of some commands that stands before the command.
  case optionBeforeCommand(String)
  /// An option that needs a value, called `placeholder`, and has none.
  case missingValue(String, placeholder: String)
  /// A flag with a value attached.
  case unexpectedValue(String, value: String)
  /// An option given twice that may be given once.
  case repeatedOption(String)
  /// A value, of an option or of an argument known by its place, that is not what it should be.
  case invalidValue(String, value: String, expectation: String, nearest: String?)
  /// An argument that has to be there and is not.
  case missingArgument(String)
  /// An argument for which there is no place.
  case unexpectedArgument(String)

  /// The problem in a line, without a full stop.
  public var message: String {
    switch self {
    case .missingCommand: "no command given"
    case .unknownCommand(let word, let nearest): "unknown command '\(word)'" + question(nearest)
    case .unknownOption(let option, let nearest):
      "unknown option '\(option)'" + (question(nearest) ?? advice(for: option))
    case .optionBeforeCommand(let option): "option '\(option)' belongs behind the command"
    case .missingValue(let option, let placeholder):
      "option '\(option)' needs a value: \(option) \(placeholder)"
    case .unexpectedValue(let option, let value):
      "option '\(option)' takes no value, but was given '\(value)'"
    case .repeatedOption(let option): "option '\(option)' was given more than once"
    case .invalidValue(let name, let value, let expectation, let nearest):
      "\(name) has to be \(expectation), not '\(value)'" + question(nearest)
    case .missingArgument(let name): "missing argument \(name)"
    case .unexpectedArgument(let argument): "unexpected argument '\(argument)'"
    }
  }

  private func question(_ nearest: String?) -> String? {
    nearest.map { "; did you mean '\($0)'?" }
  }

  private func question(_ nearest: String?) -> String { question(nearest) ?? "" }

  // A negative number is the usual reason for a dash that was not meant as one.
  private func advice(for option: String) -> String {
    guard let sign = option.dropFirst().first, sign.isNumber || sign == "." else { return "" }
    return "; write '--' before arguments that begin with a dash"
  }
}

/// What the user asked the program to do.
public enum Invocation: Sendable {
  /// To run a command.
  case run(ParsedArguments)
  /// To explain a command, or the program where it is nil.
  case help(CommandDeclaration?)
  /// To tell its version.
  case version
}

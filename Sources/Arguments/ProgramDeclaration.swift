/// A program's command line, declared once: parsing, help and shell completion all derive from it.
///
/// ```swift
/// switch try program.parse(Array(CommandLine.arguments.dropFirst())) {
/// case .run(let arguments): run(arguments[pipeline], arguments[inputs], to: arguments[out])
/// case .help(let command): print(program.help(for: command, width: columns), terminator: "")
/// case .version: print(program.version)
/// }
/// ```
public struct ProgramDeclaration: Sendable {
  /// The word that starts the program.
  public let name: String
  /// What the program is for, in one sentence.
  public let summary: String
  /// What `--version` prints.
  public let version: String
  /// The commands, in the order in which help lists them.
  public let commands: [CommandDeclaration]
  /// The options that every command understands, and that may also stand before the command.
  public let globalOptions: [OptionDeclaration]

  /// Declares a program.
  ///
  /// - Precondition: Command names are unique, and so are the options of each command together
  ///   with the global ones. `help` is no command's name, `help` and `version` are no options'
  ///   names, and `-h` is free: they are the same in every program.
  public init(
    name: String, summary: String, version: String, commands: [CommandDeclaration],
    globalOptions: [any DeclaredOption] = []
  ) {
    self.name = name
    self.summary = summary
    self.version = version
    self.commands = commands
    self.globalOptions = globalOptions.map(\.declaration)
    precondition(isWithoutRepetition(commands.map(\.name) + ["help"]), "two commands share a name")
    for options in commands.map(\.options) + [[]] {
      let spellings = (options + self.globalOptions + [.help, .version]).flatMap(\.spellings)
      precondition(isWithoutRepetition(spellings), "two options share a spelling: \(spellings)")
    }
  }

  /// The command called `name`; nil if there is none.
  public func command(named name: String) -> CommandDeclaration? {
    commands.first { $0.name == name }
  }

  /// Every option that may stand behind `command`, or before any command if that is nil.
  func options(for command: CommandDeclaration?) -> [OptionDeclaration] {
    (command?.options ?? []) + globalOptions + (command == nil ? [.help, .version] : [.help])
  }
}

private func isWithoutRepetition(_ words: [String]) -> Bool { Set(words).count == words.count }

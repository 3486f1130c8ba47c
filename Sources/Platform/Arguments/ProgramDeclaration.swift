/// A program's command line, declared once: parsing, help and shell completion all derive from it.
///
/// ```swift
/// switch try program.parse(Array(CommandLine.arguments.dropFirst())) {
/// case .run(let arguments): run(arguments[pipeline], arguments[inputs], to: arguments[out])
/// case .help(let command): print(program.help(for: command, width: columns), terminator: "")
/// case .version: print(program.version)
/// }
/// ```
package struct ProgramDeclaration: Sendable {
  /// The word that starts the program.
  package let name: String
  /// What the program is for, in one sentence.
  package let summary: String
  /// What `--version` prints.
  package let version: String
  /// In the order of help.
  package let commands: [CommandDeclaration]
  /// The options of every command, which may also precede the command.
  package let globalOptions: [OptionDeclaration]

  /// Declares a program.
  ///
  /// - Precondition: Command names are unique, and so are the options of each command together
  ///   with the global ones. `help` is no command's name, `help` and `version` are no options'
  ///   names, and `-h` is free: they are the same in every program.
  package init(
    name: String, summary: String, version: String, commands: [CommandDeclaration],
    globalOptions: [any DeclaredArgument<OptionDeclaration>] = []
  ) {
    self.name = name
    self.summary = summary
    self.version = version
    self.commands = commands
    self.globalOptions = globalOptions.map { $0.declaration }
    precondition(isWithoutRepetition(commands.map(\.name) + ["help"]), "two commands share a name")
    for options in commands.map(\.options) + [[]] {
      let spellings = (options + self.globalOptions + [.help, .version]).flatMap(\.spellings)
      precondition(isWithoutRepetition(spellings), "two options share a spelling: \(spellings)")
    }
  }

  /// Nil if there is none.
  package func command(named name: String) -> CommandDeclaration? {
    commands.first { $0.name == name }
  }

  /// Every option allowed behind `command`, or before any command if that is nil.
  func options(for command: CommandDeclaration?) -> [OptionDeclaration] {
    (command?.options ?? []) + globalOptions + (command == nil ? [.help, .version] : [.help])
  }
}

private func isWithoutRepetition(_ words: [String]) -> Bool { Set(words).count == words.count }

/// A program's command line, declared once: parsing, help and shell completion all derive from it.
///
/// ```swift
/// switch try program.parse(Array(CommandLine.arguments.dropFirst())) {
/// case .run(let arguments): run(arguments[pipeline], arguments[inputs], to: arguments[out])
/// case .help(let subject): print(program.help(for: subject, width: columns), terminator: "")
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
  /// The first words of those commands whose name has two words.
  package let families: [CommandFamily]
  /// Short texts that `help NAME` shows.
  package let guides: [HelpGuide]
  /// The options of every command, which may also precede the command.
  package let globalOptions: [OptionDeclaration]
  /// In the order in which they are looked through.
  let foreignOptions: [ForeignOption]

  /// Declares a program.
  ///
  /// - Precondition: The names of commands, families and guides are unique, and so are the options of
  ///   each command together with the global ones. Each command of two words belongs to a family.
  ///   `help` is no command's name, `help` and `version` are no options' names, and `-h` is free: they
  ///   are the same in every program.
  package init(
    name: String, summary: String, version: String, commands: [CommandDeclaration],
    families: [CommandFamily] = [], guides: [HelpGuide] = [],
    globalOptions: [any DeclaredArgument<OptionDeclaration>] = [],
    foreignOptions: [ForeignOption] = []
  ) {
    self.name = name
    self.summary = summary
    self.version = version
    self.commands = commands
    self.families = families
    self.guides = guides
    self.globalOptions = globalOptions.map { $0.declaration }
    self.foreignOptions = foreignOptions
    precondition(
      isWithoutRepetition(
        commands.map(\.name) + families.map(\.name) + guides.map(\.name) + ["help"]),
      "two commands share a name")
    precondition(
      commands.allSatisfy { command in
        command.name == command.firstWord || families.contains { $0.name == command.firstWord }
      }, "a command of two words has no family")
    for options in commands.map(\.options) + [[]] {
      let spellings = (options + self.globalOptions + [.help, .version]).flatMap(\.spellings)
      precondition(isWithoutRepetition(spellings), "two options share a spelling: \(spellings)")
    }
  }

  /// Nil if there is none.
  package func command(named name: String) -> CommandDeclaration? {
    commands.first { $0.name == name }
  }

  /// The family whose commands begin with a word; nil if there is none.
  func family(named name: String) -> CommandFamily? { families.first { $0.name == name } }

  /// What help says in a line about a word that may come first; empty for an unknown one.
  func summary(of firstWord: String) -> String {
    family(named: firstWord)?.summary ?? command(named: firstWord)?.summary ?? ""
  }

  /// The commands of a family, in the order of help.
  package func members(of family: CommandFamily) -> [CommandDeclaration] {
    commands.filter { $0.name != $0.firstWord && $0.firstWord == family.name }
  }

  /// The command that a family's name means alone; nil if it means none.
  func usualCommand(of family: CommandFamily) -> CommandDeclaration? {
    family.usual.flatMap { command(named: "\(family.name) \($0)") }
  }

  /// Every word that may come first, in the order of help.
  package var firstWords: [String] {
    var seen: Set<String> = []
    return commands.map(\.firstWord).filter { seen.insert($0).inserted }
  }

  /// What `help WORDS` explains; nil for an unknown word. No words mean the program.
  package func helpSubject(_ words: [String]) -> HelpSubject? {
    let name = words.joined(separator: " ")
    if words.isEmpty { return .program }
    if let command = command(named: name) { return .command(command) }
    if let family = family(named: name) { return .family(family) }
    return guides.first { $0.name == name }.map { .guide($0) }
  }

  /// Every option allowed behind `command`, or before any command if that is nil.
  func options(for command: CommandDeclaration?) -> [OptionDeclaration] {
    (command?.options ?? []) + globalOptions + (command == nil ? [.help, .version] : [.help])
  }
}

extension ProgramDeclaration {
  /// The problem with an option of another program that has another name here; nil if none is known.
  /// - Parameter spelling: as typed; nil for two dashes and the word.
  func answer(
    to word: String, for command: CommandDeclaration?, spelled spelling: String? = nil
  ) -> UsageProblem? {
    let spelling = spelling ?? "--" + word
    let options = options(for: command)
    for foreign in foreignOptions where foreign.words.contains(word) {
      switch foreign.meaning {
      case .option(let name):
        guard let option = options.first(where: { $0.name == name }) else { continue }
        return .unknownOption(spelling, nearest: option.spelling)
      case .argument:
        guard let argument = command?.positionals.last else { continue }
        return .optionForArgument(spelling, argument: argument.name)
      case .line(let line, let commands):
        guard let command, commands.contains(command.name) else { continue }
        return .unknownOption(spelling, nearest: line)
      }
    }
    return nil
  }
}

private func isWithoutRepetition(_ words: [String]) -> Bool { Set(words).count == words.count }

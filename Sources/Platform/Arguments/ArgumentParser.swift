extension ProgramDeclaration {
  /// Gives meaning to a command line, the program's own name left out.
  ///
  /// Options may stand before or behind other arguments, and `--` ends them. Behind a command, a
  /// request for help is granted whatever else is wrong; no arguments at all ask for help.
  ///
  /// - Parameter altered: the arguments whose bytes are not UTF-8, as they were repaired: they would
  ///   name other files.
  /// - Throws: Every problem there is, at once; only before the command the first alone, since
  ///   nothing behind it could be understood.
  package func parse(
    _ arguments: [String], altered: [String] = []
  ) throws(UsageError) -> Invocation {
    var parser = ArgumentParser(program: self, arguments: arguments, altered: altered)
    return try arguments.isEmpty ? .help(.program) : parser.parse()
  }
}

struct ArgumentParser {
  private let program: ProgramDeclaration
  private let altered: [String]
  private var lexer: ArgumentLexer
  private var optionTexts: [String: [String]] = [:]
  private var problems: [UsageProblem] = []
  // What follows an unknown option may be its value, and must not be reported for being there.
  private var hasUnknownOption = false

  init(program: ProgramDeclaration, arguments: [String], altered: [String] = []) {
    self.program = program
    self.altered = altered
    lexer = ArgumentLexer(arguments)
  }

  private var isHelpWanted: Bool { optionTexts[OptionDeclaration.help.name] != nil }

  mutating func parse() throws(UsageError) -> Invocation {
    while let token = lexer.next() {
      switch token {
      case .value("help"):
        optionTexts[OptionDeclaration.help.name] = [""]
      case .value(let word):
        return isHelpWanted ? try help(beginning: word) : try parse(word)
      case .long, .short:
        readOption(token, for: nil)
        if !problems.isEmpty { throw error(for: nil) }
        if optionTexts[OptionDeclaration.version.name] != nil { return .version }
      }
    }
    guard isHelpWanted else { throw UsageError(problems: [.missingCommand], hint: hint(for: nil)) }
    return .help(.program)
  }

  /// Help for the words from here on, options left out. What follows a command's name is ignored.
  private mutating func help(beginning word: String) throws(UsageError) -> Invocation {
    var words = [word]
    if program.families.contains(where: { $0.name == word }), case .value(let next)? = lexer.next()
    {
      words.append(next)
    }
    guard let subject = program.helpSubject(words) else {
      throw unknown(words, among: program.firstWords + program.guides.map(\.name))
    }
    return .help(subject)
  }

  private mutating func parse(_ word: String) throws(UsageError) -> Invocation {
    guard let family = program.family(named: word) else {
      guard let command = program.command(named: word) else {
        throw unknown([word], among: program.firstWords + ["help"])
      }
      return try parse(command)
    }
    let usual = program.usualCommand(of: family)
    guard let next = lexer.word else {
      if let command = commandBehindOptions(of: family) {
        return try parse(command, isNamed: false)
      }
      if let usual, !lexer.asksForHelp { return try parse(usual) }
      if lexer.asksForHelp { return .help(.family(family)) }
      throw UsageError(problems: [.missingCommand], hint: hint(for: word))
    }
    if next == "help" { return .help(.family(family)) }
    if let command = program.command(named: "\(word) \(next)") {
      _ = lexer.next()
      return try parse(command)
    }
    // The usual command may take arguments of its own.
    if let usual, !usual.positionals.isEmpty { return try parse(usual) }
    throw unknown([word, next], among: program.members(of: family).map(\.name))
  }

  /// The command whose second word stands behind options: `runs --store DIR list`.
  private func commandBehindOptions(of family: CommandFamily) -> CommandDeclaration? {
    let members = program.members(of: family)
    let options = members.flatMap { program.options(for: $0) }
    var lexer = lexer
    while let token = lexer.next() {
      if case .value(let word) = token { return members.first { $0.lastWord == word } }
      guard let option = options.first(where: { $0.isMeant(by: token) }) else { return nil }
      if option.takesValue { _ = lexer.takeValue() }
    }
    return nil
  }

  private func unknown(_ words: [String], among known: [String]) -> UsageError {
    let name = words.joined(separator: " ")
    let family = words.count > 1 ? words[0] : nil
    // A word that stands alone in another release, or in the user's memory, may be a family's.
    let moved = words.count == 1 ? program.commands.first { $0.lastWord == name }?.name : nil
    return UsageError(
      problems: [.unknownCommand(name, nearest: moved ?? nearestWord(to: name, in: known))],
      hint: hint(for: family))
  }

  /// - Parameter isNamed: whether its name was read; else the first argument is its second word.
  private mutating func parse(
    _ command: CommandDeclaration, isNamed: Bool = true
  ) throws(UsageError) -> Invocation {
    var texts: [String] = []
    while let token = lexer.next() {
      if case .value(let text) = token {
        texts.append(text)
      } else {
        readOption(token, for: command)
      }
    }
    if isHelpWanted { return .help(.command(command)) }
    let positionalTexts = readPositionals(texts.dropFirst(isNamed ? 0 : 1), of: command)
    guard problems.isEmpty else { throw error(for: command) }
    for option in program.options(for: command) where optionTexts[option.name] == nil {
      optionTexts[option.name] = []
    }
    return .run(
      ParsedArguments(
        command: command, optionTexts: optionTexts, positionalTexts: positionalTexts))
  }

  private func error(for command: CommandDeclaration?) -> UsageError {
    UsageError(problems: problems, hint: hint(for: command?.name))
  }

  /// - Parameter name: the name of a command or a family; nil for the program.
  private func hint(for name: String?) -> String {
    "see '\(program.name)\(name.map { " " + $0 } ?? "") \(option: .help)'"
  }

  private mutating func readOption(
    _ token: ArgumentLexer.Token, for command: CommandDeclaration?
  ) {
    let options = program.options(for: command)
    guard let option = options.first(where: { $0.isMeant(by: token) }) else {
      hasUnknownOption = true
      problems.append(problem(withUnknown: token, for: command))
      // The value of the option that was meant, as a level often is.
      if lexer.isBeforeNegativeNumber { _ = lexer.takeValue() }
      return
    }
    guard option.takesValue else {
      if case .long(_, let value?) = token {
        problems.append(.unexpectedValue(option.spelling, value: value))
      }
      optionTexts[option.name] = [""]
      return
    }
    guard let value = lexer.takeValue() else {
      problems.append(.missingValue(option.spelling, placeholder: option.placeholder ?? ""))
      return
    }
    if optionTexts[option.name] != nil, !option.isRepeatable {
      problems.append(.repeatedOption(option.spelling))
    }
    check(
      value, against: option.rule, of: option.spelling, isName: option.completion.isName)
    optionTexts[option.name, default: []].append(value)
  }

  private mutating func problem(
    withUnknown token: ArgumentLexer.Token, for command: CommandDeclaration?
  ) -> UsageProblem {
    let spelling: String
    let typed: String
    let meant: OptionDeclaration?
    let options = program.options(for: command)
    switch token {
    case .long(let name, _):
      spelling = "--" + name
      typed = name
      if let answer = program.answer(to: name, for: command) { return answer }
      let nearest = nearestWord(to: name, in: options.map(\.name))
      meant = options.first { $0.name == nearest }
    case .short:
      // A long option that lost a dash looks like this.
      let word = lexer.abandonCluster()
      spelling = "-" + word
      typed = word
      if let answer = program.answer(to: word, for: command, spelled: spelling) { return answer }
      let named = options.filter { word.count == 1 ? $0.name.hasPrefix(word) : $0.name == word }
      meant = named.count == 1 ? named.first : nil
    case .value(let text):
      return .unexpectedArgument(text)
    }
    if command == nil, meant == nil,
      program.commands.contains(where: { $0.options.contains { $0.isMeant(by: token) } })
    {
      return .optionBeforeCommand(spelling)
    }
    return .unknownOption(spelling, nearest: meant?.spelling ?? elsewhere(typed, for: command))
  }

  /// What was probably meant by an option that is none here, as it is typed elsewhere: before a command,
  /// an option of commands; behind one, another command of its family, or the program's version. Nil if
  /// nothing is near.
  private func elsewhere(_ word: String, for command: CommandDeclaration?) -> String? {
    guard let command else {
      let names = program.commands.flatMap { $0.options.map(\.name) }
      return nearestWord(to: word, in: names).map { "COMMAND --\($0)" }
    }
    for other in program.commands
    where other.firstWord == command.firstWord && other.name != command.name {
      let line = "\(program.name) \(other.name)"
      if word == other.lastWord { return line }
      let option = other.options.first { word == "\(other.lastWord)-\($0.name)" }
      if let option { return "\(line) \(option.spelling)" }
    }
    let version = OptionDeclaration.version
    let isVersion =
      word.count == 1
      ? version.name.hasPrefix(word) : nearestWord(to: word, in: [version.name]) != nil
    return isVersion ? "\(program.name) \(version.spelling)" : nil
  }

  private mutating func readPositionals(
    _ texts: ArraySlice<String>, of command: CommandDeclaration
  ) -> [String: [String]] {
    var rest = texts
    var result: [String: [String]] = [:]
    for positional in command.positionals {
      let taken = rest.prefix(positional.maximum ?? rest.count)
      rest = rest.dropFirst(taken.count)
      result[positional.name] = Array(taken)
      if taken.count < positional.minimum {
        problems.append(
          positional.minimum == 1
            ? .missingArgument(positional.name)
            : .tooFewArguments(
              positional.name, of: command.name, count: taken.count, minimum: positional.minimum))
      }
      if hasUnknownOption { continue }
      for text in taken {
        check(
          text, against: positional.rule, of: positional.name,
          isName: positional.completion.isName)
      }
    }
    if !hasUnknownOption { problems += rest.map { .unexpectedArgument($0) } }
    return result
  }

  private mutating func check(
    _ text: String, against rule: ValueRule, of name: String, isName: Bool
  ) {
    // A value may be the end of its word: --out=DIR, -oDIR.
    if text.unicodeScalars.contains("\u{FFFD}"), altered.contains(where: { $0.hasSuffix(text) }) {
      problems.append(.unreadable(name, value: text))
      return
    }
    // A shell makes one of a variable that is not set, and a path would lead to the current folder.
    if text.isEmpty, isName {
      problems.append(.emptyArgument(name))
      return
    }
    if rule.accepts(text) { return }
    problems.append(
      .invalidValue(
        name, value: text, expectation: rule.expectation,
        nearest: nearestWord(to: text, in: rule.choices)))
  }
}

extension OptionDeclaration {
  fileprivate func isMeant(by token: ArgumentLexer.Token) -> Bool {
    switch token {
    case .long(let name, _): name == self.name
    case .short(let letter): letter == short
    case .value: false
    }
  }
}

package enum Invocation: Sendable {
  /// To run a command.
  case run(ParsedArguments)
  case help(HelpSubject)
  case version
}

/// An invalid command line: every problem, and where to read more.
package struct UsageError: Error, Hashable, Sendable {
  /// The options first; never empty.
  package let problems: [UsageProblem]
  /// Where to read on: `see 'spool run --help'`.
  package let hint: String

  /// One line for each problem, without a full stop.
  package var message: String { problems.map(\.message).joined(separator: "\n") }
}

/// One problem of a command line. `nearest` is the known word that the user may have meant.
package enum UsageProblem: Hashable, Sendable {
  /// There are options, but no command.
  case missingCommand
  /// A word that names no command.
  case unknownCommand(String, nearest: String?)
  /// An unknown option, as spelled by the user.
  case unknownOption(String, nearest: String?)
  /// An option of some commands that stands before the command.
  case optionBeforeCommand(String)
  /// An option without its required value, called `placeholder`.
  case missingValue(String, placeholder: String)
  /// A flag with a value attached.
  case unexpectedValue(String, value: String)
  /// An option given twice that may be given once.
  case repeatedOption(String)
  /// An invalid value of an option or a positional argument.
  case invalidValue(String, value: String, expectation: String, nearest: String?)
  case missingArgument(String)
  /// Fewer of a repeated argument of a command than it needs, which is more than one.
  case tooFewArguments(String, of: String, count: Int, minimum: Int)
  /// An argument or an option's value without a letter.
  case emptyArgument(String)
  /// A value that is not UTF-8, as it was repaired.
  case unreadable(String, value: String)
  /// Another program's option for what is named without one here.
  case optionForArgument(String, argument: String)
  case unexpectedArgument(String)

  /// The problem in a line, without a full stop.
  package var message: String {
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
    case .tooFewArguments(let name, let command, let count, let minimum):
      "\(command) needs at least \(minimum) \(name.lowercased())s, and \(count) "
        + (count == 1 ? "is given" : "are given")
    case .unreadable(let name, let value):
      "\(name) is not UTF-8 text, and '\(value)' shows it as well as it can be written; if it is "
        + "a file, rename it, by hand or with the program convmv"
    case .emptyArgument(let name): "\(name) is empty: '' names nothing"
    case .optionForArgument(let option, let argument):
      "unknown option '\(option)'; \(argument) stands without an option"
    case .unexpectedArgument(let argument): "unexpected argument '\(argument)'"
    }
  }

  private func question(_ nearest: String?) -> String? {
    nearest.map { "; did you mean '\($0)'?" }
  }

  private func question(_ nearest: String?) -> String { question(nearest) ?? "" }

  // A negative number is the usual reason for an unintended dash.
  private func advice(for option: String) -> String {
    guard let sign = option.dropFirst().first, sign.isNumber || sign == "." else { return "" }
    return "; write '--' before arguments that begin with a dash"
  }
}

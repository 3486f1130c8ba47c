extension ProgramDeclaration {
  /// Gives meaning to a command line, the program's own name left out.
  ///
  /// Options may stand before or behind other arguments, and `--` ends them. Behind a command, a
  /// request for help is granted whatever else is wrong; no arguments at all ask for help.
  ///
  /// - Throws: Every problem there is, at once; only before the command the first alone, since
  ///   nothing behind it could be understood.
  public func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
    var parser = ArgumentParser(program: self, arguments: arguments)
    return try arguments.isEmpty ? .help(nil) : parser.parse()
  }
}

/// The state of reading one command line.
struct ArgumentParser {
  private let program: ProgramDeclaration
  private var lexer: ArgumentLexer
  // The values of every option given; a flag's is empty.
  private var optionTexts: [String: [String]] = [:]
  private var problems: [UsageProblem] = []
  // What follows an option nobody knows may be its value, and must not be reported for being there.
  private var hasUnknownOption = false

  init(program: ProgramDeclaration, arguments: [String]) {
    self.program = program
    lexer = ArgumentLexer(arguments)
  }

  private var isHelpWanted: Bool { optionTexts[OptionDeclaration.help.name] != nil }

  mutating func parse() throws(UsageError) -> Invocation {
    while let token = lexer.next() {
      switch token {
      case .value("help"):
        optionTexts[OptionDeclaration.help.name] = [""]
      case .value(let word):
        let command = try command(named: word)
        return isHelpWanted ? .help(command) : try parse(command)
      case .long, .short:
        readOption(token, for: nil)
        if !problems.isEmpty { throw error(for: nil) }
        if optionTexts[OptionDeclaration.version.name] != nil { return .version }
      }
    }
    guard isHelpWanted else { throw UsageError(problems: [.missingCommand], hint: hint(for: nil)) }
    return .help(nil)
  }

  private func command(named word: String) throws(UsageError) -> CommandDeclaration {
    if let command = program.command(named: word) { return command }
    let nearest = nearestWord(to: word, in: program.commands.map(\.name) + ["help"])
    throw UsageError(problems: [.unknownCommand(word, nearest: nearest)], hint: hint(for: nil))
  }

  private mutating func parse(_ command: CommandDeclaration) throws(UsageError) -> Invocation {
    var texts: [String] = []
    while let token = lexer.next() {
      if case .value(let text) = token {
        texts.append(text)
      } else {
        readOption(token, for: command)
      }
    }
    if isHelpWanted { return .help(command) }
    let positionalTexts = readPositionals(texts[...], of: command)
    guard problems.isEmpty else { throw error(for: command) }
    for option in program.options(for: command) where optionTexts[option.name] == nil {
      optionTexts[option.name] = []
    }
    return .run(
      ParsedArguments(
        command: command, optionTexts: optionTexts, positionalTexts: positionalTexts))
  }

  private func error(for command: CommandDeclaration?) -> UsageError {
    UsageError(problems: problems, hint: hint(for: command))
  }

  private func hint(for command: CommandDeclaration?) -> String {
    "see '\(program.name)\(command.map { " " + $0.name } ?? "") --help'"
  }
}

extension ArgumentParser {
  private mutating func readOption(
    _ token: ArgumentLexer.Token, for command: CommandDeclaration?
  ) {
    let options = program.options(for: command)
    guard let option = options.first(where: { $0.isMeant(by: token) }) else {
      hasUnknownOption = true
      problems.append(problem(withUnknown: token, for: command))
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
    check(value, against: option.rule, of: option.spelling)
    optionTexts[option.name, default: []].append(value)
  }

  private mutating func problem(
    withUnknown token: ArgumentLexer.Token, for command: CommandDeclaration?
  ) -> UsageProblem {
    let spelling: String
    let meant: OptionDeclaration?
    let options = program.options(for: command)
    switch token {
    case .long(let name, _):
      spelling = "--" + name
      let nearest = nearestWord(to: name, in: options.map(\.name))
      meant = options.first { $0.name == nearest }
    case .short:
      // A long option that lost a dash looks like this.
      let word = lexer.abandonCluster()
      spelling = "-" + word
      meant = options.first { $0.name == word }
    case .value(let text):
      return .unexpectedArgument(text)
    }
    if command == nil,
      program.commands.contains(where: { $0.options.contains { $0.isMeant(by: token) } })
    {
      return .optionBeforeCommand(spelling)
    }
    return .unknownOption(spelling, nearest: meant?.spelling)
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
      if taken.count < positional.minimum { problems.append(.missingArgument(positional.name)) }
      if hasUnknownOption { continue }
      for text in taken { check(text, against: positional.rule, of: positional.name) }
    }
    if !hasUnknownOption { problems += rest.map { .unexpectedArgument($0) } }
    return result
  }

  private mutating func check(_ text: String, against rule: ValueRule, of name: String) {
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

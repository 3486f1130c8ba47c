import CTexts

/// A shell script that completes a program's commands, options and values, without packages. It runs
/// the program only for names that change: ``CompletionHint/names(_:orFiles:)``.
package struct CompletionScript: Hashable, Sendable {
  /// Ends in a line feed.
  package let text: String

  /// The script for bash 4.3 or later: `source <(spool completion bash)`.
  package static func bash(_ program: ProgramDeclaration) -> CompletionScript {
    CompletionScript(text: BashCompletion(program: program).text)
  }

  /// The script for zsh, as a file `_spool` in a folder of `$fpath`, or as
  /// `source <(spool completion zsh)`.
  package static func zsh(_ program: ProgramDeclaration) -> CompletionScript {
    CompletionScript(text: ZshCompletion(program: program).text)
  }

  /// The script for fish 3.0 or later, as a file `spool.fish` in `~/.config/fish/completions`, or
  /// as `spool completion fish | source`.
  package static func fish(_ program: ProgramDeclaration) -> CompletionScript {
    CompletionScript(text: FishCompletion(program: program).text)
  }
}

extension CompletionScript {
  /// The name of a shell function for `program`: letters, digits and underscores.
  static func functionName(_ program: String) -> String {
    "_" + program.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "_" }.joined()
  }

  /// `text` quoted as one shell word.
  static func quoted(_ text: String) -> String { ShellWords.singleQuoted(text) }
}

/// A zsh function that passes the declarations to zsh's `_arguments`.
struct ZshCompletion {
  let program: ProgramDeclaration

  var text: String {
    let function = CompletionScript.functionName(program.name)
    return unsafe String(cString: text_zsh_completion)
      .replacing("@FUNCTION@", with: function).replacing("@PROGRAM@", with: program.name)
      .replacing("@GLOBALS@", with: list(globalSpecs(function)))
      .replacing("@COMMANDS@", with: list(commandSpecs))
      .replacing("@BRANCHES@", with: branches.joined(separator: "\n"))
  }

  private var branches: [String] {
    program.firstWords.map { word in
      guard let family = program.family(named: word) else {
        return program.command(named: word).map { branch($0, at: "    ") } ?? ""
      }
      let members = program.members(of: family)
      let choice = members.map { "\($0.lastWord)\\:\(quotedInChoice($0.summary))" }
      let usual = program.usualCommand(of: family)
      let specs =
        (program.options(for: usual).flatMap(specs(for:)))
        + ["(-)1:COMMAND:((\(choice.joined(separator: " "))))", "(-)*:: :->member"]
      return """
            \(word))
              _arguments -C -s -S \(list(specs)) && return
              [[ $state == member ]] || return 1
              case $line[1] in
        \(members.map { branch($0, at: "        ") }.joined(separator: "\n"))
              esac
              ;;
        """
    }
  }

  private func branch(_ command: CommandDeclaration, at indent: String) -> String {
    let specs =
      program.options(for: command).flatMap(specs(for:))
      + command.positionals.enumerated().map { spec(for: $1, at: $0 + 1) }
    return "\(indent)\(command.lastWord)) _arguments -s -S \(list(specs)) ;;"
  }

  /// Text behind a choice in double parentheses.
  private func quotedInChoice(_ text: String) -> String {
    "\"\(escaped(text).replacing("\"", with: "\\\""))\""
  }

  // '(-)' removes the program's options once there is a command: it has its own.
  private func globalSpecs(_ function: String) -> [String] {
    program.options(for: nil).flatMap(specs(for:))
      + ["(-)1:COMMAND:\(function)_commands", "(-)*:: :->arguments"]
  }

  private var commandSpecs: [String] {
    program.firstWords.map { word in
      "\(word):\(escaped(program.summary(of: word)))"
    } + ["help:Explain a command."]
  }

  private func specs(for option: OptionDeclaration) -> [String] {
    let rivals = option.isRepeatable ? "*" : "(\(option.spellings.joined(separator: " ")))"
    let value = option.placeholder.map { ":\(escaped($0)):\(action(option.completion))" } ?? ""
    return option.spellings.map { spelling in
      // How the value is attached: -oDIR, --out=DIR, or either apart from it.
      let sign = !option.takesValue ? "" : spelling.hasPrefix("--") ? "=" : "+"
      return "\(rivals)\(spelling)\(sign)[\(explanation(option.help))]\(value)"
    }
  }

  private func spec(for positional: PositionalDeclaration, at place: Int) -> String {
    let rest = "\(escaped(positional.name)):\(action(positional.completion))"
    return switch positional.presence {
    case .required: "\(place):\(rest)"
    case .optional: "\(place)::\(rest)"
    case .repeated: "*:\(rest)"
    }
  }

  private func action(_ hint: CompletionHint) -> String {
    switch hint {
    case .none: " "
    case .folder: "_files -/"
    case .files(let extensions) where extensions.isEmpty: "_files"
    case .files(let extensions): "_files -g '\(Self.pattern(extensions))'"
    case .choices(let words): "(\(words.map(escaped).joined(separator: " ")))"
    case .names(let kind, let extensions):
      // Behind a space, _arguments puts no options for compadd between the function and its arguments.
      " \(CompletionScript.functionName(program.name))_names \(kind)"
        + (extensions.map { " \(CompletionScript.quoted(Self.pattern($0)))" } ?? "")
    }
  }

  /// The pattern of files with one of these extensions; of all if there are none.
  private static func pattern(_ extensions: [String]) -> String {
    extensions.isEmpty ? "*" : "*.(#i)(\(extensions.joined(separator: "|")))"
  }

  // A bracket would end the explanation, and zsh would show the backslash that escapes it.
  private func explanation(_ help: String) -> String {
    escaped(help.replacing("[", with: "(").replacing("]", with: ")"))
  }

  private func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
  }

  private func list(_ specs: [String]) -> String {
    specs.map { "\\\n      " + CompletionScript.quoted($0) }.joined(separator: " ")
  }
}

/// Calls of fish's `complete`: one for each command, option and argument, where the words typed so far
/// begin with the command's.
struct FishCompletion {
  let program: ProgramDeclaration

  var text: String {
    let lines =
      (firstWords + [("help", "Explain a command.")])
      .map { rule(isAtFirstWord, "-a \($0) -d \(Self.quoted($1))") }
      + program.options(for: nil).map { rule(isAtFirstWord, for: $0) }
      + program.commands.flatMap { rules(for: $0, where: condition($0.name)) }
      + program.families.flatMap(rules(for:))
      + [
        rule(
          condition("help"),
          "-a \(Self.quoted((program.firstWords + program.guides.map(\.name)).joined(separator: " ")))"
        )
      ]
    return unsafe String(cString: text_fish_completion)
      .replacing("@FUNCTION@", with: function).replacing("@PROGRAM@", with: program.name)
      + lines.map { $0 + "\n" }.joined()
  }

  private var function: String { "_" + CompletionScript.functionName(program.name) }

  private var isAtFirstWord: String { "\(function)_is_at 0" }

  private var firstWords: [(String, String)] {
    program.firstWords.map { ($0, program.summary(of: $0)) }
  }

  private func rules(for family: CommandFamily) -> [String] {
    let members = program.members(of: family)
    let none = members.reduce(condition(family.name)) {
      "\($0); and not \(condition($1.name))"
    }
    // A member's name stands where the family's own command has its arguments.
    return members.map {
      rule(
        "\(condition(family.name)); and \(function)_is_at 1",
        "-a \($0.lastWord) -d \(Self.quoted($0.summary))")
    } + (program.usualCommand(of: family).map { rules(for: $0, where: none) } ?? [])
  }

  private func rules(for command: CommandDeclaration, where condition: String) -> [String] {
    program.options(for: command).map { rule(condition, for: $0) }
      + command.positionals.compactMap { offer($0.completion) }.map { rule(condition, $0) }
  }

  private func condition(_ name: String) -> String { "\(function)_begins \(name)" }

  private func rule(_ condition: String, _ offer: String) -> String {
    "complete -c \(program.name) -n '\(condition)' \(offer)"
  }

  private func rule(_ condition: String, for option: OptionDeclaration) -> String {
    var words = option.short.map { ["-s \($0)"] } ?? []
    words.append("-l \(option.name)")
    // Without -x, an option's value could be what an argument of the command can be.
    if option.takesValue { words += ["-x", offer(option.completion)].compactMap(\.self) }
    return rule(condition, (words + ["-d \(Self.quoted(option.help))"]).joined(separator: " "))
  }

  /// Nil for nothing.
  private func offer(_ hint: CompletionHint) -> String? {
    switch hint {
    case .none: nil
    case .files(let extensions): "-a '(\(files(extensions)))'"
    case .folder: "-a '(\(function)_files /)'"
    case .choices(let words): "-a \(Self.quoted(words.joined(separator: " ")))"
    case .names(let kind, let extensions):
      "-a '(\(function)_names \(kind)\(extensions.map { "; " + files($0) } ?? ""))'"
    }
  }

  /// Offers folders, and files with one of these extensions.
  private func files(_ extensions: [String]) -> String {
    (["\(function)_files"] + extensions).joined(separator: " ")
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}

/// A bash function that reads the words before the cursor as ``ArgumentParser`` would, and looks up
/// what may come next in tables derived from the declarations.
///
/// Bash cuts words at `=` and `:` too, and replaces only what stands behind the last cut. So the
/// pieces are glued together first, and what bash will not replace is taken off every offer.
struct BashCompletion {
  let program: ProgramDeclaration

  var text: String {
    unsafe String(cString: text_bash_completion)
      .replacing("@FUNCTION@", with: CompletionScript.functionName(program.name))
      .replacing("@PROGRAM@", with: program.name).replacing("@COMMANDS@", with: commandNames)
      .replacing("@FAMILIES@", with: families)
      .replacing("@RULES@", with: rules.map { "    " + $0 }.joined(separator: "\n"))
      .replacing("@OPTIONS@", with: optionLists.map { "    " + $0 }.joined(separator: "\n"))
  }

  private var commandNames: String {
    CompletionScript.quoted(completer(.choices(program.firstWords + ["help"])))
  }

  /// A pattern of the words that a second word completes.
  private var families: String {
    (program.families.map(\.name) + ["help"]).joined(separator: "|")
  }

  /// The names behind which options may stand, each with the command that they belong to: nil
  /// before any command.
  private var scopes: [(name: String, command: CommandDeclaration?)] {
    [("", nil)] + program.commands.map { ($0.name, $0) }
      + program.families.compactMap { family in
        program.usualCommand(of: family).map { (family.name, $0) }
      }
  }

  private var optionLists: [String] {
    scopes.map { name, command in
      let spellings = program.options(for: command).flatMap(\.spellings)
      let list = CompletionScript.quoted(spellings.joined(separator: " "))
      return "\(CompletionScript.quoted(name))) options=\(list) ;;"
    }
  }

  private var rules: [String] {
    let members = program.families.flatMap { family in
      let names = completer(.choices(program.members(of: family).map(\.lastWord)))
      return ["", "help "].map {
        "\(CompletionScript.quoted("\($0)\(family.name) 0"))) takes=\(CompletionScript.quoted(names)) ;;"
      }
    }
    let help = completer(.choices(program.firstWords + program.guides.map(\.name)))
    return members + scopes.flatMap { rules(for: $0.command, named: $0.name) }
      + ["'help 0') takes=\(CompletionScript.quoted(help)) ;;"]
  }

  private func rules(for command: CommandDeclaration?, named name: String) -> [String] {
    let options = program.options(for: command).map { option in
      let takes = option.takesValue ? completer(option.completion) : "-"
      let patterns = option.spellings.map { CompletionScript.quoted("\(name) \($0)") }
      return "\(patterns.joined(separator: "|"))) takes=\(CompletionScript.quoted(takes)) ;;"
    }
    let positionals = (command?.positionals ?? []).enumerated().map { index, positional in
      // A repeated argument comes last: it matches every place that no earlier pattern took.
      let pattern =
        positional.maximum == nil
        ? CompletionScript.quoted(name + " ") + "[0-9]*"
        : CompletionScript.quoted("\(name) \(index)")
      let takes = CompletionScript.quoted(completer(positional.completion))
      return "\(pattern)) takes=\(takes) ;;"
    }
    return options + positionals
  }

  private func completer(_ hint: CompletionHint) -> String {
    switch hint {
    case .none: "words"
    case .files(let extensions):
      (["files"] + extensions.map { $0.lowercased() }).joined(separator: " ")
    case .folder: "folders"
    case .choices(let words): (["words"] + words).joined(separator: " ")
    case .names(let kind, let extensions):
      (["names", kind] + (extensions.map { ["files"] + $0 } ?? [])).joined(separator: " ")
    }
  }
}

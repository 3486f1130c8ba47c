/// A bash function that reads the words before the cursor as ``ArgumentParser`` would, then asks
/// tables derived from the declarations what may come next.
struct BashCompletion {
  let program: ProgramDeclaration

  var text: String {
    let function = CompletionScript.functionName(program.name)
    return """
      # Completion for \(program.name) in bash.

      # What an option or argument takes: '-' for nothing, '' for what is unknown.
      \(function)_takes() {
        case $1 in
      \(rules.map { "    " + $0 }.joined(separator: "\n"))
          *) takes='' ;;
        esac
      }

      \(function)_options() {
        case $1 in
      \(optionLists.map { "    " + $0 }.joined(separator: "\n"))
        esac
      }

      \(Self.driver(function: function, commands: commandNames))

      complete -F \(function) \(program.name)

      """
  }

  private var commandNames: String {
    CompletionScript.quoted(completer(.choices(program.commands.map(\.name) + ["help"])))
  }

  private var scopes: [CommandDeclaration?] { [nil] + program.commands.map { $0 } }

  private var optionLists: [String] {
    scopes.map { command in
      let spellings = program.options(for: command).flatMap(\.spellings)
      let list = CompletionScript.quoted(spellings.joined(separator: " "))
      return "\(command?.name ?? "''")) options=\(list) ;;"
    }
  }

  private var rules: [String] {
    let help = CompletionScript.quoted(completer(.choices(program.commands.map(\.name))))
    return scopes.flatMap(rules(for:)) + ["'help 0') takes=\(help) ;;"]
  }

  private func rules(for command: CommandDeclaration?) -> [String] {
    let name = command?.name ?? ""
    let options = program.options(for: command).map { option in
      let takes = option.takesValue ? completer(option.completion) : "-"
      let patterns = option.spellings.map { CompletionScript.quoted("\(name) \($0)") }
      return "\(patterns.joined(separator: "|"))) takes=\(CompletionScript.quoted(takes)) ;;"
    }
    let positionals = (command?.positionals ?? []).enumerated().map { index, positional in
      // What may be repeated stands last, so it has every place that no pattern before it took.
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
    }
  }
}

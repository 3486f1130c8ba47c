/// A shell script that completes a program's commands, options and values, without packages and
/// without running the program.
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
}

extension CompletionScript {
  /// The name of a shell function for `program`: letters, digits and underscores.
  static func functionName(_ program: String) -> String {
    "_" + program.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "_" }.joined()
  }

  /// `text` quoted as one shell word.
  static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}

/// A zsh function that passes the declarations to zsh's `_arguments`.
struct ZshCompletion {
  let program: ProgramDeclaration

  var text: String {
    let function = CompletionScript.functionName(program.name)
    return """
      #compdef \(program.name)
      # Completion for \(program.name) in zsh.

      \(function)() {
        local curcontext=$curcontext context state state_descr line
        local -A opt_args
        _arguments -C -s -S \(list(globalSpecs(function))) && return
        [[ $state == arguments ]] || return 1
        case $line[1] in
      \(program.commands.map(branch).joined(separator: "\n"))
          help) _arguments -S '1:COMMAND:\(function)_commands' ;;
        esac
      }

      \(function)_commands() {
        local -a commands=(\(list(commandSpecs)))
        _describe command commands
      }

      if [[ $funcstack[1] == \(function) ]]; then
        \(function) "$@"
      else
        compdef \(function) \(program.name)
      fi

      """
  }

  private func branch(_ command: CommandDeclaration) -> String {
    let specs =
      program.options(for: command).flatMap(specs(for:))
      + command.positionals.enumerated().map { spec(for: $1, at: $0 + 1) }
    return "    \(command.name)) _arguments -s -S \(list(specs)) ;;"
  }

  // '(-)' removes the program's options once there is a command: it has its own.
  private func globalSpecs(_ function: String) -> [String] {
    program.options(for: nil).flatMap(specs(for:))
      + ["(-)1:COMMAND:\(function)_commands", "(-)*:: :->arguments"]
  }

  private var commandSpecs: [String] {
    program.commands.map { "\($0.name):\(escaped($0.summary))" }
      + ["help:Explain a command."]
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
    case .files(let extensions): "_files -g '*.(#i)(\(extensions.joined(separator: "|")))'"
    case .choices(let words): "(\(words.map(escaped).joined(separator: " ")))"
    }
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

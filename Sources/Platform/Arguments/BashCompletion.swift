/// A bash function that reads the words before the cursor as ``ArgumentParser`` would, and looks up
/// what may come next in tables derived from the declarations.
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
    }
  }
}

extension BashCompletion {
  /// The part of the script that is the same for every program: it finds out what is wanted at the
  /// cursor, and offers that.
  ///
  /// Bash cuts words at `=` and `:` too, and replaces only what stands behind the last cut. So the
  /// pieces are glued together first, and what bash will not replace is taken off every offer.
  static func driver(function: String, commands: String) -> String {
    #"""
    NAME() {
      local words=() word command='' pending='' takes='' options='' ended='' offers=()
      local -i i place=0
      for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 1)) && { [[ $word =~ ^[=:]+$ ]] || [[ ${COMP_WORDS[i - 1]} =~ ^[=:]+$ ]]; }; then
          words[${#words[@]} - 1]+=$word
        else
          words+=("$word")
        fi
      done

      local current=${words[${#words[@]} - 1]} kept=${COMP_WORDS[COMP_CWORD]}
      [[ $kept =~ ^[=:]+$ ]] && kept=''
      kept=${current%"$kept"}

      for word in "${words[@]:0:${#words[@]}-1}"; do
        if [[ $pending ]]; then
          pending=''
        elif [[ ! $ended && $word == -- ]]; then
          ended=yes
        elif [[ ! $ended && $word == --* ]]; then
          NAME_takes "$command $word"
          [[ $takes && $takes != - ]] && pending=$takes
        elif [[ ! $ended && $word == -?* ]]; then
          for ((i = 1; i < ${#word}; i++)); do
            NAME_takes "$command -${word:i:1}"
            [[ $takes && $takes != - ]] || continue
            ((i == ${#word} - 1)) && pending=$takes
            break
          done
        elif [[ ! $command ]]; then
          command=$word
        else
          place+=1
        fi
      done

      local before='' typed=$current
      if [[ $pending ]]; then
        takes=$pending
      elif [[ ! $ended && $current == --*=* ]]; then
        before=${current%%=*}= typed=${current#*=}
        NAME_takes "$command ${current%%=*}"
      elif [[ ! $ended && $current == -* ]]; then
        NAME_options "$command"
        takes="words $options"
      elif [[ ! $command ]]; then
        takes=COMMANDS
      else
        NAME_takes "$command $place"
      fi
      local -a what
      read -ra what <<<"$takes"
      NAME_offer "${what[@]}"
      COMPREPLY=("${offers[@]/#/"$before"}")
      COMPREPLY=("${COMPREPLY[@]#"$kept"}")
    }

    NAME_offer() {
      local kind=$1 offer ending
      shift
      case $kind in
        words)
          for offer; do
            [[ $offer == "$typed"* ]] && offers+=("$offer")
          done
          ;;
        folders)
          compopt -o filenames 2>/dev/null
          mapfile -t offers < <(compgen -d -- "$typed")
          ;;
        files)
          compopt -o filenames 2>/dev/null
          while IFS= read -r offer; do
            ending=${offer##*.}
            if (($# == 0)) || [[ -d ${offer/#\~\//"$HOME/"} ]] ||
              [[ $offer == *.* && " $* " == *" ${ending,,} "* ]]; then
              offers+=("$offer")
            fi
          done < <(compgen -f -- "$typed")
          ;;
      esac
    }
    """#
    .replacing("NAME", with: function).replacing("COMMANDS", with: commands)
  }
}

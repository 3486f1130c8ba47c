import Platform

/// `spool completion`: completion for the shell, and manual pages.
struct CompletionCommand: Command {
  private static let form = Positional<Form>.required(
    "SHELL", help: "The shell; or man, for a manual page.")
  private static let command = Positional<String?>.optional(
    "COMMAND", help: "With man: the command; left out, the whole program.")

  static let declaration = CommandDeclaration(
    name: "completion", group: "Shell",
    summary: "Print the completion script of a shell, or a manual page.",
    positionals: [form, command],
    examples: [
      Example(
        "For bash", "spool completion bash > ~/.local/share/bash-completion/completions/spool"),
      Example("For zsh", "spool completion zsh > ~/.zfunc/_spool"),
      Example("Read a manual page", "spool completion man run | man -l -"),
    ])

  private enum Form: String, CaseIterable, ArgumentValue {
    case bash, zsh, man
  }

  let arguments: ParsedArguments

  func run(console: Console) throws(SpoolError) -> ExitCode {
    let name = arguments[Self.command]
    let command = name.flatMap(Spool.program.command(named:))
    switch (arguments[Self.form], name) {
    case (.bash, nil): console.draw(CompletionScript.bash(Spool.program).text)
    case (.zsh, nil): console.draw(CompletionScript.zsh(Spool.program).text)
    case (.man, nil): console.draw(Spool.program.manPage(for: nil))
    case (.man, _?) where command != nil: console.draw(Spool.program.manPage(for: command))
    case (let form, let name?):
      throw .usage(
        form == .man ? "there is no command \(name)" : "a script is for all commands",
        advice: "spool help completion")
    }
    return .done
  }
}

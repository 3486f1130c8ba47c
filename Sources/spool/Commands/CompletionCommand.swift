import Platform

extension Command {
  /// `spool completion`: completion for the shell, and manual pages.
  static let completion = Command(
    name: "completion", group: "Care",
    summary: "Print the completion script of a shell, or a manual page.",
    positionals: [Options.form, Options.command],
    examples: [
      Example(
        "For bash", "spool completion bash > ~/.local/share/bash-completion/completions/spool"),
      Example("For zsh", "spool completion zsh > ~/.zfunc/_spool"),
      Example("For fish", "spool completion fish > ~/.config/fish/completions/spool.fish"),
      Example("Read a manual page", "spool completion man run | man -l -"),
    ],
    perform: CommandContext.printCompletion)
}

extension Options {
  fileprivate enum Form: String, CaseIterable, ArgumentValue {
    case bash, zsh, fish, man
  }

  fileprivate static let form = Positional<Form>.required(
    "SHELL", help: "The shell; or man, for a manual page.")
  fileprivate static let command = Positional<String?>.optional(
    "COMMAND", help: "With man: the command; left out, the whole program.")
}

extension CommandContext {
  fileprivate func printCompletion() throws(SpoolError) -> ExitCode {
    let name = arguments[Options.command]
    let command = name.flatMap(Spool.program.command(named:))
    switch (arguments[Options.form], name) {
    case (.bash, nil): console.draw(CompletionScript.bash(Spool.program).text)
    case (.zsh, nil): console.draw(CompletionScript.zsh(Spool.program).text)
    case (.fish, nil): console.draw(CompletionScript.fish(Spool.program).text)
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

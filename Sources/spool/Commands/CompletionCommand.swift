import Arguments

/// `spool completion`: completion for the shell.
struct CompletionCommand: Command {
  private static let shell = Positional<Shell>.required("SHELL", help: "The shell.")

  static let declaration = CommandDeclaration(
    name: "completion", group: "Shell",
    summary: "Print the completion script of a shell.",
    positionals: [shell],
    examples: [
      Example(
        "For bash", "spool completion bash > ~/.local/share/bash-completion/completions/spool"),
      Example("For zsh", "spool completion zsh > ~/.zfunc/_spool"),
    ])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    switch arguments[Self.shell] {
    case .bash: console.draw(CompletionScript.bash(Spool.program).text)
    case .zsh: console.draw(CompletionScript.zsh(Spool.program).text)
    }
    return .done
  }
}

/// A shell that has completion.
enum Shell: String, CaseIterable, ArgumentValue {
  case bash
  case zsh
}

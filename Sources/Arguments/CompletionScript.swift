/// The script that teaches a shell to complete a program's commands, options and their values.
///
/// It is complete in itself: it needs no package, and does not run the program.
public struct CompletionScript: Hashable, Sendable {
  /// The script, which ends in a line feed.
  public let text: String

  /// The script for bash 4.3 or later: `source <(spool completion bash)`.
  public static func bash(_ program: ProgramDeclaration) -> CompletionScript {
    CompletionScript(text: BashCompletion(program: program).text)
  }

  /// The script for zsh, as a file `_spool` in a folder of `$fpath`, or as
  /// `source <(spool completion zsh)`.
  public static func zsh(_ program: ProgramDeclaration) -> CompletionScript {
    CompletionScript(text: ZshCompletion(program: program).text)
  }
}

extension CompletionScript {
  /// The name of a shell function that belongs to `program`: letters, digits and underscores.
  static func functionName(_ program: String) -> String {
    "_" + program.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "_" }.joined()
  }

  /// `text` as one word of a shell, whatever it holds.
  static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}

import Foundation
import Platform
import TestSupport
import Testing

@Suite("The completion script for zsh", .enabled(if: Zsh.program != nil, "zsh is not installed"))
struct ZshCompletionTests {
  @Test("is a script that zsh can read", arguments: [false, true])
  func syntax(isGrouped: Bool) throws {
    let zsh = try #require(Zsh.program)
    let folder = try ScratchFolder()
    let program = isGrouped ? Fixture.grouped : Fixture.program
    let script = try folder.write(CompletionScript.zsh(program).text, to: "_spool")
    let result = try zsh.run(["-f", "-n", script])
    #expect(result.exitCode == 0)
    #expect(result.errorOutput == "")
  }

  @Test(
    "offers what may come next",
    arguments: [
      ("spool r", ["run"]), ("spool run --shell ", ["bash", "zsh"]),
      ("spool completion ", ["bash", "zsh"]), ("spool run ", ["Folder", "a.yaml"]),
      ("spool run --out ", ["Folder"]),
    ])
  func words(line: String, offers: [String]) throws {
    #expect(try Zsh.offers(for: line) == offers.sorted())
  }

  @Test(
    "knows families, and asks the program for names",
    arguments: [
      ("spool store ", ["check", "gc"]), ("spool runs ", ["forget", "list", "show"]),
      ("spool runs forget ", ["runs-a", "runs-b"]),
      ("spool runs forget --store s ", ["runs-a", "runs-b", "s"]),
    ])
  func families(line: String, offers: [String]) throws {
    #expect(try Zsh.offers(for: line, program: Fixture.grouped) == offers.sorted())
  }
}

/// Asks zsh what it offers: its completion runs in a terminal of its own, and what it would add is
/// written down.
enum Zsh {
  static let program = Program(named: "zsh")

  /// What is offered at the end of a line, sorted.
  static func offers(
    for line: String, program declaration: ProgramDeclaration = Fixture.program
  ) throws -> [String] {
    let zsh = try #require(program)
    let folder = try ScratchFolder()
    for file in ["a.yaml", "two words.m4a"] { try folder.write("", to: file) }
    try FileManager.default.createDirectory(
      atPath: folder.file("Folder"), withIntermediateDirectories: false)
    let programs = try ScratchFolder()
    let path = try programs.write(Shells.naming, to: "spool")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    try programs.write(CompletionScript.zsh(declaration).text, to: "_spool")
    try programs.write(Self.inner, to: "inner")
    let result = try zsh.run(
      ["-f", "-c", Self.outer, "driver", programs.path, line], folder: folder.path)
    #expect(result.errorOutput == "")
    return Set(
      try String(contentsOfFile: programs.file("offers"), encoding: .utf8)
        .split(separator: "\n").map(String.init)
    ).sorted()
  }

  /// Starts a shell with a terminal, types the line, and waits until it has told that it is done.
  private static let outer = """
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "source $1/inner $1"
    zpty -r -m shell seen '*READY*'
    zpty -n -w shell "$2"$'\\t'
    zpty -r -m shell seen '*DONE*'
    zpty -d shell
    """

  /// Loads the completion; every match that compadd takes goes into a file.
  private static let inner = """
    path=($1 $path) fpath=($1 $fpath) folder=$1
    PROMPT= RPROMPT=
    unsetopt zle_bracketed_paste prompt_sp
    autoload -Uz compinit && compinit -u -D
    : > $folder/offers
    compadd() {
      local -a offered
      if [[ ${@[(I)-[OAD]*]} -eq 0 ]]; then
        builtin compadd -O offered "$@"
        (( $#offered )) && print -rl -- $offered >> $folder/offers
      fi
      builtin compadd "$@"
    }
    complete-and-tell() { zle complete-word; print DONE }
    zle -N complete-and-tell
    bindkey '^I' complete-and-tell
    print READY
    """
}

import TestSupport
import Testing
import Platform

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
}

enum Zsh {
  static let program = Program(named: "zsh")
}

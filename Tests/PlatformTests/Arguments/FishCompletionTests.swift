import Platform
import TestSupport
import Testing

@Suite("The completion script for fish")
struct FishCompletionTests {
  private let lines = CompletionScript.fish(Fixture.program).text.split(separator: "\n")

  @Test("offers commands first, then their options, values and arguments")
  func rules() {
    #expect(lines[1] == "complete -c spool -f")
    let before = "complete -c spool -n '__fish_use_subcommand' "
    let within = "complete -c spool -n '__fish_seen_subcommand_from run' "
    #expect(lines.contains { $0 == before + "-a show -d 'Show a run.'" })
    #expect(lines.contains { $0.hasPrefix(before + "-l version ") })
    let folders = "-a '(__fish_complete_directories (commandline -ct))'"
    #expect(
      lines.contains { $0 == within + "-s o -l out -r \(folders) -d 'Where the exports go.'" })
    #expect(lines.contains { $0 == within + "-l shell -r -a 'bash zsh' -d 'Which shell.'" })
    #expect(lines.contains { $0 == within + "-F" })
    let grouped = CompletionScript.fish(Fixture.grouped).text.split(separator: "\n")
    let forget =
      "complete -c spool -n '__fish_seen_subcommand_from runs; and __fish_seen_subcommand_from forget' "
    let names = "-a '(spool completion names runs -- (commandline -opc)[2..-1] 2>/dev/null)'"
    #expect(grouped.contains { $0 == forget + names })
    #expect(grouped.contains { $0 == forget + "-l from -r -F \(names) -d 'A run or a file.'" })
  }

  @Test(
    "is a script that fish can read",
    .enabled(if: Program(named: "fish") != nil, "fish is not installed"))
  func syntax() throws {
    let fish = try #require(Program(named: "fish"))
    let folder = try ScratchFolder()
    let script = try folder.write(CompletionScript.fish(Fixture.program).text, to: "spool.fish")
    let result = try fish.run(["--no-execute", script])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
  }
}

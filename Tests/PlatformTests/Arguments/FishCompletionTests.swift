import Foundation
import Platform
import TestSupport
import Testing

@Suite("The completion script for fish", .enabled(if: Fish.program != nil, "fish is not installed"))
struct FishCompletionTests {
  @Test(
    "offers what may come next, and at an option's value nothing that an argument could be",
    arguments: [
      ("spool ", ["run", "completion", "show", "help"]), ("spool r", ["run"]),
      ("spool -q s", ["show"]), ("spool run a.yaml --o", ["--out"]),
      ("spool run --shell ", ["bash", "zsh"]), ("spool run --shell=z", ["--shell=zsh"]),
      ("spool run --jobs ", []), ("spool completion ", ["bash", "zsh"]),
      ("spool help s", ["show"]), ("spool show run ", []),
      ("spool run ", ["a.yaml", "B.YML", "Folder/", "two words.m4a"]),
      ("spool run a.yaml t", ["two words.m4a"]), ("spool run --out ", ["Folder/"]),
      ("spool run -o F", ["Folder/"]), ("spool run Folder/", ["Folder/inner.yaml"]),
    ])
  func words(line: String, offers: [String]) throws {
    #expect(try Fish.offers(for: line) == offers.sorted())
  }

  @Test(
    "knows the commands by their place, whatever arguments are called",
    arguments: [
      ("spool store ", ["check", "gc"]), ("spool store check --s", ["--store"]),
      ("spool runs ", ["list", "show", "forget"]), ("spool runs list --j", ["--jobs"]),
      ("spool runs forget store ", ["runs-a", "runs-b"]), ("spool runs --j", ["--jobs"]),
      ("spool runs show --j", []), ("spool help st", ["store"]),
    ])
  func families(line: String, offers: [String]) throws {
    #expect(try Fish.offers(for: line, program: Fixture.grouped) == offers.sorted())
  }

  @Test(
    "asks the program for names, and tells it the words that were typed",
    arguments: [
      ("spool runs forget ", ["runs-a", "runs-b"]),
      ("spool runs forget --store s ", ["runs-a", "runs-b", "s"]),
      ("spool runs forget --from ", ["runs-a", "runs-b", "a.yaml", "Folder/"]),
    ])
  func names(line: String, offers: [String]) throws {
    #expect(try Fish.offers(for: line, program: Fixture.grouped) == offers.sorted())
  }

  @Test("is a script that fish can read, and says nothing when it is loaded")
  func loading() throws {
    let fish = try #require(Fish.program)
    let folder = try ScratchFolder()
    let script = try folder.write(CompletionScript.fish(Fixture.program).text, to: "spool.fish")
    let result = try fish.run(["--no-config", script])
    #expect(result.exitCode == 0 && result.text == "" && result.errorOutput == "")
  }
}

/// Asks fish what it offers, as it does when the user presses the tabulator key.
enum Fish {
  static let program = Program(named: "fish")

  /// What is offered at the end of a line, sorted. The program prints two names of each kind, and the
  /// store's name if that was typed.
  static func offers(
    for line: String, program declaration: ProgramDeclaration = Fixture.program
  ) throws -> [String] {
    let fish = try #require(program)
    let folder = try ScratchFolder()
    for file in ["a.yaml", "B.YML", "two words.m4a"] { try folder.write("", to: file) }
    try FileManager.default.createDirectory(
      atPath: folder.file("Folder"), withIntermediateDirectories: false)
    try folder.write("", to: "Folder/inner.yaml")
    let programs = try ScratchFolder()
    let path = try programs.write(Shells.naming, to: "spool")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    let script = try programs.write(CompletionScript.fish(declaration).text, to: "spool.fish")
    let result = try fish.run(
      [
        "--no-config", "-c",
        "set -p PATH $argv[1]; source $argv[2]; complete -C $argv[3]", programs.path, script, line,
      ], folder: folder.path)
    #expect(result.errorOutput == "")
    // What is offered stands before a tabulator and its description.
    return result.text.split(separator: "\n")
      .compactMap { $0.split(separator: "\t").first.map(String.init) }.sorted()
  }
}

enum Shells {
  /// A program that prints two names of the kind, and the store's name if that was typed.
  static let naming = """
    #!/bin/sh
    [ "$1 $2 $4" = "completion names --" ] || exit 1
    echo "$3-a"; echo "$3-b"; shift 4
    case "$*" in *"--store s"*) echo s ;; esac
    """
}

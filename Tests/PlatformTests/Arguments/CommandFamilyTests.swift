import Testing
import Platform

@Suite("Commands of two words")
struct CommandFamilyTests {
  private func parse(_ line: String) throws(UsageError) -> Invocation {
    try Fixture.grouped.parse(line.split(separator: " ").map(String.init))
  }

  @Test(
    "are found by both, and a family's name alone may mean one of them",
    arguments: [
      ("store check", "store check"), ("store gc", "store gc"),
      ("store check --store x", "store check"),
      ("runs", "runs list"), ("runs --jobs 3", "runs list"), ("runs list --jobs 3", "runs list"),
      ("runs show r1", "runs show"), ("store --store x check", "store check"),
      ("runs --store x --from y forget r1", "runs forget"),
    ])
  func found(line: String, name: String) throws {
    guard case .run(let arguments) = try parse(line) else {
      Issue.record("\(line) does not run")
      return
    }
    #expect(arguments.command.name == name)
    if name == "runs forget" { #expect(arguments[Fixture.named] == "r1") }
  }

  @Test(
    "are explained with their family, or alone",
    arguments: [
      ("store --help", "store"), ("help store", "store"), ("store help", "store"),
      ("runs -h", "runs"), ("help runs", "runs"), ("help store gc", "store gc"),
      ("store gc --help", "store gc"), ("help units", "units"),
    ])
  func explained(line: String, name: String) throws {
    guard case .help(let subject) = try parse(line) else {
      Issue.record("\(line) does not ask for help")
      return
    }
    switch subject {
    case .program: Issue.record("the program is explained")
    case .family(let family): #expect(family.name == name)
    case .command(let command): #expect(command.name == name)
    case .guide(let guide): #expect(guide.name == name)
    }
  }

  @Test(
    "are suggested where a word is missing or misspelt",
    arguments: [
      ("store", "no command given"), ("store chekc", "did you mean 'store check'?"),
      ("gc", "did you mean 'store gc'?"), ("stroe", "did you mean 'store'?"),
      ("help unts", "did you mean 'units'?"), ("runs shwo", "did you mean 'runs show'?"),
    ])
  func suggested(line: String, message: String) {
    do throws(UsageError) {
      _ = try parse(line)
      Issue.record("\(line) was taken")
    } catch {
      #expect(error.message.contains(message), "\(error.message)")
    }
  }

  @Test("stand in the program's help as one row of their family")
  func help() throws {
    #expect(
      Fixture.grouped.help(for: .program) == """
        Process recordings.

        Usage: spool COMMAND [options]

        Work:
          runs           Look at runs. (list, show, forget)

        Care:
          store          Look after the store. (check, gc)

        Guides:
          help units     How values are written.

        Options:
          -h, --help     Show this help.
              --version  Show the version.

        'spool help COMMAND' explains a command.

        """)
    let runs = try #require(Fixture.grouped.helpSubject(["runs"]))
    #expect(
      Fixture.grouped.help(for: runs) == """
        Look at runs.

        Usage: spool runs COMMAND [options]

        Commands:
          list        List runs.
          show        Show a run.
          forget      Give up a run.

        Options of every command:
          -h, --help  Show this help.

        'spool runs' alone is 'spool runs list'. 'spool help runs COMMAND' explains a
        command.

        """)
    let units = try #require(Fixture.grouped.helpSubject(["units"]))
    #expect(
      Fixture.grouped.help(for: units)
        == "How values are written.\n\nA value.\n\n  80 Hz\n  3 dB\n")
  }
}

import Testing
import Platform

@Suite("A command line that is wrong")
struct UsageErrorTests {
  @Test("a value whose bytes are not UTF-8 is refused, and one with U+FFFD is taken")
  func altered() throws {
    let bad = "o\u{FFFD}"
    for words in [["--out", bad], ["--out=\(bad)"], ["-o\(bad)"], ["--set", "a=\(bad)"]] {
      let error = #expect(throws: UsageError.self) {
        try Fixture.program.parse(["run", "p", "x"] + words, altered: [words.last ?? ""])
      }
      guard case .unreadable? = error?.problems.first else {
        Issue.record("\(words): \(error?.message ?? "")")
        continue
      }
      _ = try Fixture.program.parse(["run", "p", "x"] + words)
    }
    #expect(throws: UsageError.self) {
      try Fixture.program.parse(["run", "p", bad], altered: [bad])
    }
  }

  @Test(
    "is told what is wrong",
    arguments: [
      ("--json", [.missingCommand]),
      ("rnu", [.unknownCommand("rnu", nearest: "run")]),
      ("hepl", [.unknownCommand("hepl", nearest: "help")]),
      ("nothing", [.unknownCommand("nothing", nearest: nil)]),
      ("run p x --otu=d", [.unknownOption("--otu", nearest: "--out")]),
      ("run p x --frobnicate", [.unknownOption("--frobnicate", nearest: nil)]),
      ("run p x --output d", [.unknownOption("--output", nearest: "--out")]),
      ("--vers", [.unknownOption("--vers", nearest: "--version")]),
      ("-v", [.unknownOption("-v", nearest: "--version")]),
      ("run p x -s", [.missingValue("--set", placeholder: "NAME=VALUE")]),
      ("run p x -quiet", [.unknownOption("-quiet", nearest: "--quiet")]),
      ("show x -store", [.unknownOption("-store", nearest: "--store")]),
      ("show x -jx", [.unknownOption("-jx", nearest: nil)]),
      ("run p x -5", [.unknownOption("-5", nearest: nil)]),
      ("--out d run", [.optionBeforeCommand("--out")]),
      ("run p x -o", [.missingValue("--out", placeholder: "DIR")]),
      ("run p x --json=yes", [.unexpectedValue("--json", value: "yes")]),
      ("run p x -o a --out b", [.repeatedOption("--out")]),
      ("run p x --json -j", []),
      ("run p", [.missingArgument("INPUT")]),
      ("run p  x", [.emptyArgument("INPUT")]),
      ("run p x --out=", [.emptyArgument("--out")]),
      ("run p x --set=", []),
      ("run p x --dest d", [.unknownOption("--dest", nearest: "--out")]),
      ("run p x -dd", [.unknownOption("-dd", nearest: "--out")]),
      ("show x --dest d", [.unknownOption("--dest", nearest: nil)]),
      ("run p --input x", [.optionForArgument("--input", argument: "INPUT")]),
      ("run p x --simulate", [.unknownOption("--simulate", nearest: "spool plan")]),
      ("show x --simulate", [.unknownOption("--simulate", nearest: nil)]),
      (
        "join a", [.tooFewArguments("RECORDING", of: "join", count: 1, minimum: 2)]
      ),
      ("run", [.missingArgument("PIPELINE"), .missingArgument("INPUT")]),
      ("show a b c", [.unexpectedArgument("b"), .unexpectedArgument("c")]),
      (
        "run p x --jobs two",
        [
          .invalidValue(
            "--jobs", value: "two", expectation: "a whole number", nearest: nil)
        ]
      ),
      (
        "completion zhs",
        [
          .invalidValue(
            "SHELL", value: "zhs", expectation: "one of bash, zsh", nearest: "zsh")
        ]
      ),
    ] as [(String, [UsageProblem])])
  func problems(line: String, problems: [UsageProblem]) {
    #expect(Fixture.problems(line, of: Fixture.foreign) == problems)
  }

  @Test("is told everything that is wrong at once")
  func allAtOnce() {
    #expect(
      Fixture.problems("run --jsn --jobs two -o a -o b") == [
        .unknownOption("--jsn", nearest: "--json"),
        .invalidValue("--jobs", value: "two", expectation: "a whole number", nearest: nil),
        .repeatedOption("--out"),
        .missingArgument("PIPELINE"), .missingArgument("INPUT"),
      ])
  }

  @Test("is not blamed for the value of an option that nobody knows")
  func unknownOptionsValue() {
    #expect(Fixture.problems("show a --ot dir") == [.unknownOption("--ot", nearest: nil)])
    #expect(Fixture.problems("show a --ot -16") == [.unknownOption("--ot", nearest: nil)])
  }

  @Test("is told where to read on")
  func hint() throws {
    #expect(
      throws: UsageError.self, "an unknown command",
      performing: { try Fixture.program.parse(["rnu"]) })
    do throws(UsageError) {
      _ = try Fixture.program.parse(["run", "--otu"])
    } catch {
      #expect(error.hint == "see 'spool run --help'")
      #expect(
        error.message == """
          unknown option '--otu'; did you mean '--out'?
          missing argument PIPELINE
          missing argument INPUT
          """)
    }
  }

  @Test(
    "is told so in plain words",
    arguments: [
      (.unknownCommand("rnu", nearest: "run"), "unknown command 'rnu'; did you mean 'run'?"),
      (
        .unknownOption("-5", nearest: nil),
        "unknown option '-5'; write '--' before arguments that begin with a dash"
      ),
      (
        .tooFewArguments("RECORDING", of: "mix", count: 1, minimum: 2),
        "mix needs at least 2 recordings, and 1 is given"
      ),
      (.emptyArgument("INPUT"), "INPUT is empty: '' names nothing"),
      (
        .optionForArgument("--input", argument: "RECORDING"),
        "unknown option '--input'; RECORDING stands without an option"
      ),
      (.missingValue("--out", placeholder: "DIR"), "option '--out' needs a value: --out DIR"),
      (
        .unexpectedValue("--json", value: "yes"),
        "option '--json' takes no value, but was given 'yes'"
      ),
      (
        .invalidValue("SHELL", value: "zhs", expectation: "one of bash, zsh", nearest: "zsh"),
        "SHELL has to be one of bash, zsh, not 'zhs'; did you mean 'zsh'?"
      ),
    ] as [(UsageProblem, String)])
  func messages(problem: UsageProblem, message: String) {
    #expect(problem.message == message)
  }
}

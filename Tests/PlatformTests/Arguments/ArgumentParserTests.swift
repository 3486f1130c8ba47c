import Testing
import Platform

@Suite("A command line is given meaning")
struct ArgumentParserTests {
  @Test(
    "An option's value may stand apart or attached, in its long and its short form",
    arguments: ["--out dir", "--out=dir", "-o dir", "-odir", "-o=dir", "-jo dir", "-jqodir"])
  func optionForms(form: String) throws {
    let arguments = try #require(try Fixture.arguments("run p.yaml a.m4a \(form)"))
    #expect(arguments[Fixture.out] == "dir")
    #expect(arguments[Fixture.inputs] == ["a.m4a"])
    #expect(arguments[Fixture.json] == form.hasPrefix("-j"))
  }

  @Test("Options may stand between and before other arguments, global ones before the command")
  func placesOfOptions() throws {
    let arguments = try #require(
      try Fixture.arguments("--store s -j run --out d p.yaml -s a=1 x y --set=b=2=3 z"))
    #expect(arguments.command.name == "run")
    #expect(arguments[Fixture.store] == "s")
    #expect(arguments[Fixture.json])
    #expect(!arguments[Fixture.quiet])
    #expect(arguments[Fixture.pipeline] == "p.yaml")
    #expect(arguments[Fixture.inputs] == ["x", "y", "z"])
    #expect(arguments[Fixture.set] == ["a=1", "b=2=3"])
  }

  @Test("What is left out has its fallback, or nothing")
  func absence() throws {
    let arguments = try #require(try Fixture.arguments("run p x"))
    #expect(arguments[Fixture.out] == nil)
    #expect(arguments[Fixture.set] == [])
    #expect(arguments[Fixture.jobs] == 2)
    #expect(arguments[Fixture.shape] == nil)
    let show = try #require(try Fixture.arguments("show"))
    #expect(show[Fixture.run] == nil)
    #expect(try Fixture.arguments("show r1")?[Fixture.run] == "r1")
  }

  @Test("Values have types")
  func types() throws {
    let arguments = try #require(try Fixture.arguments("run p x --jobs 12 --shell zsh"))
    #expect(arguments[Fixture.jobs] == 12)
    #expect(arguments[Fixture.shape] == .zsh)
    #expect(try Fixture.arguments("completion bash")?[Fixture.shell] == .bash)
  }

  @Test("Behind a double dash everything is an argument, and a lone dash is one everywhere")
  func doubleDash() throws {
    let arguments = try #require(try Fixture.arguments("run -o - - -- --json -3 --"))
    #expect(arguments[Fixture.out] == "-")
    #expect(arguments[Fixture.pipeline] == "-")
    #expect(arguments[Fixture.inputs] == ["--json", "-3", "--"])
    #expect(!arguments[Fixture.json])
  }

  @Test("A value that begins with a dash has to be attached")
  func dashedValues() throws {
    #expect(try Fixture.arguments("run p x --jobs=-3")?[Fixture.jobs] == -3)
    #expect(try Fixture.arguments("run p x --out=--odd")?[Fixture.out] == "--odd")
    #expect(
      Fixture.problems("run p x --out --json") == [.missingValue("--out", placeholder: "DIR")])
  }

  @Test("An empty value is a value, unless it would be a path or a name")
  func emptyValues() throws {
    #expect(try Fixture.arguments("run p x --set=")?[Fixture.set] == [""])
    #expect(try Fixture.arguments("run p x --set ")?[Fixture.set] == [""])
  }

  @Test(
    "Help is granted whatever else is wrong behind a command",
    arguments: [
      ("", nil), ("--help", nil), ("-h", nil), ("help", nil), ("-jh", nil), ("--json help", nil),
      ("help help", nil), ("run --help", "run"), ("run -h --nonsense", "run"),
      ("run --nonsense --help", "run"), ("help show", "show"), ("--help show", "show"),
      ("help run --json more", "run"),
    ] as [(String, String?)])
  func help(line: String, command: String?) throws {
    let words = line.split(separator: " ").map(String.init)
    guard case .help(let explained) = try Fixture.program.parse(words) else {
      Issue.record("\(line) does not ask for help")
      return
    }
    switch explained {
    case .program: #expect(command == nil)
    case .command(let declaration): #expect(declaration.name == command)
    case .family, .guide: Issue.record("\(explained)")
    }
  }

  @Test("--help is an argument like others behind a double dash, and no option's value")
  func helpAsArgument() throws {
    #expect(try Fixture.arguments("run p -- --help")?[Fixture.inputs] == ["--help"])
    guard case .help = try Fixture.program.parse(["run", "--out", "--help"]) else {
      Issue.record("help was taken for a folder")
      return
    }
  }

  @Test("The version is told before a command only")
  func version() throws {
    guard case .version = try Fixture.program.parse(["--version"]) else {
      Issue.record("no version")
      return
    }
    #expect(
      Fixture.problems("run p x --version") == [
        .unknownOption("--version", nearest: "spool --version")
      ])
  }
}

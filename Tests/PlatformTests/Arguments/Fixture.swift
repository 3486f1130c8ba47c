import Platform
import Testing

/// A small program with one of each kind of declaration.
enum Fixture {
  enum Shell: String, CaseIterable, ArgumentValue { case bash, zsh }

  static let store: Option<String?> = .value(
    "store", "DIR", help: "Where the store is.", completion: .folder)
  static let json: Option<Bool> = .flag("json", short: "j", help: "Print JSON.")
  static let quiet: Option<Bool> = .flag("quiet", short: "q", help: "Say less.")

  static let out: Option<String?> = .value(
    "out", "DIR", short: "o", help: "Where the exports go.",
    defaultText: "the input's folder", completion: .folder)
  static let set: Option<[String]> = .values(
    "set", "NAME=VALUE", short: "s", help: "Replace a variable.")
  static let jobs: Option<Int> = .value("jobs", "N", default: 2, help: "Recordings at a time.")
  static let shape: Option<Shell?> = .value("shell", "SHELL", help: "Which shell.")
  static let pipeline: Positional<String> = .required(
    "PIPELINE", help: "The pipeline to run.", completion: .files(extensions: ["yaml", "yml"]))
  static let inputs: Positional<[String]> = .repeated(
    "INPUT", help: "Recordings.", completion: .files())

  static let shell: Positional<Shell> = .required("SHELL", help: "The shell to teach.")
  static let run: Positional<String?> = .optional("RUN", help: "A run; left out, the latest.")

  static let program = ProgramDeclaration(
    name: "spool", summary: "Process recordings.", version: "1.2.3",
    commands: [
      CommandDeclaration(
        name: "run", group: "Run pipelines", summary: "Run a pipeline on recordings.",
        discussion: "First paragraph.\n\nSecond paragraph.",
        positionals: [pipeline, inputs], options: [out, set, jobs, shape],
        examples: [Example("Clean one note", "spool run voice-note.yaml note.m4a")]),
      CommandDeclaration(
        name: "completion", group: "Set up", summary: "Print a completion script.",
        positionals: [shell]),
      CommandDeclaration(
        name: "show", group: "Run pipelines", summary: "Show a run.", positionals: [run]),
    ],
    globalOptions: [store, json, quiet])

  static let named: Positional<String> = .required(
    "RUN", help: "A run.", completion: .names("runs"))
  static let namedOrFile: Option<String?> = .value(
    "from", "RUN", help: "A run or a file.", completion: .names("runs", orFiles: ["yaml"]))

  /// A program with families: one whose name means a command, and one whose name does not.
  static let grouped = ProgramDeclaration(
    name: "spool", summary: "Process recordings.", version: "1.2.3",
    commands: [
      CommandDeclaration(name: "runs list", group: "Work", summary: "List runs.", options: [jobs]),
      CommandDeclaration(
        name: "runs show", group: "Work", summary: "Show a run.", positionals: [run]),
      CommandDeclaration(
        name: "runs forget", group: "Work", summary: "Give up a run.", positionals: [named],
        options: [namedOrFile, store]),
      CommandDeclaration(
        name: "store check", group: "Care", summary: "Check it.", options: [store]),
      CommandDeclaration(name: "store gc", group: "Care", summary: "Free room."),
    ],
    families: [
      CommandFamily("runs", "Look at runs.", usual: "list"),
      CommandFamily("store", "Look after the store."),
    ],
    guides: [HelpGuide("units", "How values are written.", text: "A value.\n\n  80 Hz\n  3 dB")])

  /// What `help` shows of a command.
  static func help(_ name: String, width: Int = 80) throws -> String {
    program.help(for: try #require(program.helpSubject([name])), width: width)
  }

  /// The program with a command that takes two arguments or more, and with other tools' options.
  static let foreign = ProgramDeclaration(
    name: "spool", summary: "Process recordings.", version: "1.2.3",
    commands: program.commands + [
      CommandDeclaration(
        name: "join", group: "Run pipelines", summary: "Join recordings.",
        positionals: [
          Positional<[String]>.repeated("RECORDING", minimum: 2, help: "Recordings.")
        ])
    ],
    globalOptions: [store, json, quiet],
    foreignOptions: [
      ForeignOption(["dest", "dd"], .option("out")), ForeignOption(["input"], .argument),
      ForeignOption(["simulate"], .line("spool plan", for: ["run"])),
    ])

  /// What `line`, cut at its spaces, gives the command it names; nil if it asks for something else.
  static func arguments(
    _ line: String, of program: ProgramDeclaration = program
  ) throws(UsageError) -> ParsedArguments? {
    let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard case .run(let arguments) = try program.parse(words) else { return nil }
    return arguments
  }

  /// What is wrong with `line`.
  static func problems(
    _ line: String, of program: ProgramDeclaration = program
  ) -> [UsageProblem] {
    do throws(UsageError) {
      _ = try arguments(line, of: program)
      return []
    } catch { return error.problems }
  }
}

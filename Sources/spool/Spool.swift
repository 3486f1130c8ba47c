import CPosix
import Glibc
import PipelineModel
import Platform
import Plugins
import Proof
import Store

/// The program: parse, find the command, run it, and leave with an exit code that scripts can
/// trust.
@main
struct Spool {
  /// The version of the program.
  static let version = Release.version

  /// Every command; help, parsing and completion derive from their declarations.
  private static let commands: [Command] = [
    .run, .batch, .watch, .status, .inbox, .resume, .plan, .checkPipeline, .new, .stages, .plugin,
    .schema, .graph, .runs, .show, .search, .words, .play, .why, .crashTest, .verify, .prove,
    .stamp, .key, .ledger, .check, .repair, .gc, .backup, .restore, .completion,
  ]

  static let program = ProgramDeclaration(
    name: "spool",
    summary: "Take recordings from the inbox to the archive, and never lose one.",
    version: version, commands: commands.map(\.declaration))

  /// What Spool does in its own child processes, by the word that they are started with. Each takes
  /// one argument and returns the exit code; nil if the argument is none of its own.
  private static let childRoles: [String: @Sendable (String) -> Int32?] = [
    Plugin.hostingWord: { NativePlugin.serve(library: $0) },
    HostOrder.word: { HostOrder($0).map { EffectHost.obey($0) } },
  ]

  static func main() {
    ConfinedProgram.launchIfAsked()
    if CommandLine.arguments.count == 3,
      let code = childRoles[CommandLine.arguments[1]]?(CommandLine.arguments[2])
    {
      exit(code)
    }
    // Threads come and go with every pass; an arena for each would scatter the memory. And what
    // grows large must grow in place, not be copied beside itself.
    posix_set_arenas(2, 1 << 20)
    let console = Console()
    var code = run(Array(CommandLine.arguments.dropFirst()), console: console)
    do throws(SpoolError) { try console.flush() } catch {
      console.report(error.text(console))
      if code == .done { code = .failed }
    }
    exit(code.rawValue)
  }

  private static func run(_ arguments: [String], console: Console) -> ExitCode {
    // Nothing was asked for, which no script means.
    guard !arguments.isEmpty else {
      console.report(program.help(for: nil, width: console.width))
      return .usage
    }
    do {
      switch try program.parse(arguments) {
      case .help(let command):
        console.print(program.help(for: command, width: console.width))
        return .done
      case .version:
        console.print("spool \(version)")
        return .done
      case .run(let parsed):
        guard let command = commands.first(where: { $0.declaration.name == parsed.command.name })
        else { return .usage }
        do throws(SpoolError) {
          return try command.perform(CommandContext(parsed, console: console))()
        } catch {
          console.report(error.text(console))
          return error.exitCode
        }
      }
    } catch {
      for problem in error.problems {
        console.report("error: \(Format.visible(problem.message))")
      }
      console.report(error.hint)
      return .usage
    }
  }
}

/// One command of the program: what it takes, and what it does.
struct Command: Sendable {
  let declaration: CommandDeclaration
  /// Does it. The error that ends it decides the exit code.
  let perform: @Sendable (CommandContext) -> () throws(SpoolError) -> ExitCode

  /// Declares a command, as ``CommandDeclaration`` does.
  init(
    name: String, group: String, summary: String, discussion: String = "",
    positionals: [any DeclaredArgument<PositionalDeclaration>] = [],
    options: [any DeclaredArgument<OptionDeclaration>] = [], examples: [Example] = [],
    perform: @escaping @Sendable (CommandContext) -> () throws(SpoolError) -> ExitCode
  ) {
    declaration = CommandDeclaration(
      name: name, group: group, summary: summary, discussion: discussion,
      positionals: positionals, options: options, examples: examples)
    self.perform = perform
  }
}

/// What scripts can trust.
struct ExitCode: RawRepresentable, Hashable {
  let rawValue: Int32

  /// Everything was done.
  static let done = ExitCode(rawValue: 0)
  /// The work failed.
  static let failed = ExitCode(rawValue: 1)
  /// The command line or the pipeline is wrong.
  static let usage = ExitCode(rawValue: 2)
  /// Some of a batch failed.
  static let someFailed = ExitCode(rawValue: 3)
  /// Something is not what it should be.
  static let verificationFailed = ExitCode(rawValue: 4)

  /// Ended by a signal, at a clean point.
  static func interrupted(by signal: Int32) -> ExitCode { ExitCode(rawValue: 128 + signal) }
}

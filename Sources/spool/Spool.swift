import CPosix
import Glibc
import Media
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
    .run, .batch, .watch, .resume, .status, .runs, .show, .forgetRuns, .why,
    .search, .words, .inbox, .play,
    .normalize, .convert, .clean, .trim, .mix,
    .pipelines, .new, .checkPipeline, .plan, .graph, .schema, .crashTest, .stages, .plugin,
    .verify, .prove, .stamp, .key, .ledger,
    .deliverQueue, .send, .deliverRun, .deliverRetry, .deliverRelease, .deliverPause,
    .deliverResume, .deliverVerify, .deliverMissing, .deliverFetch, .deliverLink,
    .deliverDestinations, .deliverCheck, .deliverNew,
    .storeInfo, .check, .repair, .gc, .prune, .backup, .restore, .completion,
  ]

  /// The first words of commands with two.
  private static let families = [
    CommandFamily("runs", "List, show and forget runs.", usual: "list"),
    CommandFamily("pipeline", "Write, check and look at pipelines."),
    CommandFamily("proof", "Quote parts of exports, and keep keys, time stamps and the ledger."),
    CommandFamily("deliver", "Send recordings to a second place, and see that it has them."),
    CommandFamily("store", "Check, repair, clean up and save the store."),
  ]

  static let program = ProgramDeclaration(
    name: "spool",
    summary: "Take recordings from the inbox to the archive, and never lose one.",
    version: version, commands: commands.map(\.declaration), families: families,
    guides: HelpGuide.all, foreignOptions: foreignOptions)

  /// What ffmpeg-normalize, ffmpeg, sox and other tools call things.
  private static let foreignOptions = [
    ForeignOption(["target-level", "target", "lufs", "integrated"], .option("loudness")),
    ForeignOption(["tp", "peak-level", "max-peak"], .option("true-peak")),
    ForeignOption(
      ["audio-codec", "codec", "acodec", "output-format", "extension", "ext", "ofmt"],
      .option("format")),
    ForeignOption(["bitrate", "audio-bitrate", "ab"], .option("bit-rate")),
    ForeignOption(["samplerate", "ar"], .option("sample-rate")),
    ForeignOption(["depth", "bit-depth", "sample-fmt"], .option("bits")),
    ForeignOption(
      ["output", "output-folder", "output-dir", "outdir", "destination", "dest", "of"],
      .option("out")),
    ForeignOption(["force", "overwrite", "yes", "y"], .option("replace")),
    ForeignOption(["dry-run", "simulate", "n"], .option("dry-run")),
    ForeignOption(["dry-run", "simulate", "n"], .line("spool pipeline plan", for: ["run"])),
    ForeignOption(["volume", "vol"], .option("gain")),
    ForeignOption(["sidechain", "ducking"], .option("duck")),
    ForeignOption(["start", "ss", "begin", "seek"], .option("from")),
    ForeignOption(["end", "stop"], .option("to")),
    ForeignOption(["threads", "workers", "parallel", "j"], .option("jobs")),
    ForeignOption(["silent"], .option("quiet")),
    ForeignOption(["loudness", "target-level", "target", "lufs", "variable"], .option("set")),
    ForeignOption(["input", "inputs", "in", "file", "i"], .argument),
  ]

  /// What Spool does in its own child processes, by the word that they are started with. Each takes
  /// one argument and returns the exit code; nil if the argument is none of its own.
  private static let childRoles: [String: @Sendable (String) -> Int32?] = [
    Plugin.hostingWord: { NativePlugin.serve(library: $0) },
    HostOrder.word: { HostOrder($0).map { EffectHost.obey($0) } },
    MediaSandbox.word: { MediaSandbox.serve($0) },
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
    // A watch whose time to stop has run out leaves threads at work, and the libraries' own clean-up
    // would take away what they use.
    _exit(code.rawValue)
  }

  /// The arguments that are not UTF-8, as Swift repairs them.
  private static var alteredArguments: [String] {
    let arguments = CommandLine.arguments
    return arguments.indices.filter { index in
      guard let word = unsafe CommandLine.unsafeArgv[index] else { return false }
      return unsafe String(validatingCString: word) == nil
    }.map { arguments[$0] }
  }

  private static func run(_ arguments: [String], console: Console) -> ExitCode {
    // Nothing was asked for, which no script means.
    guard !arguments.isEmpty else {
      console.report(
        program.help(for: .program, width: console.width, isColored: console.isColored))
      return .usage
    }
    do {
      switch try program.parse(arguments, altered: alteredArguments) {
      case .help(let subject):
        console.print(
          program.help(for: subject, width: console.width, isColored: console.isOutputColored))
        return .done
      case .version:
        console.print("spool \(version)")
        return .done
      case .run(let parsed):
        guard let command = commands.first(where: { $0.declaration.name == parsed.command.name })
        else { return .usage }
        let context = CommandContext(parsed, console: console)
        console.offersStore(context.namedStore)
        do throws(SpoolError) {
          try context.refuseAddresses()
          context.confineDecoders()
          return try command.perform(context)()
        } catch {
          context.report(error)
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

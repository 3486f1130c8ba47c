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
  private static let commands: [any (Command & SendableMetatype).Type] = [
    RunCommand.self, BatchCommand.self, WatchCommand.self, StatusCommand.self, InboxCommand.self,
    ResumeCommand.self, PlanCommand.self, CheckPipelineCommand.self, NewCommand.self,
    StagesCommand.self, PluginCommand.self, SchemaCommand.self, GraphCommand.self, RunsCommand.self,
    ShowCommand.self, SearchCommand.self,
    WhyCommand.self, CrashTestCommand.self,
    VerifyCommand.self, ProveCommand.self, StampCommand.self, KeyCommand.self, LedgerCommand.self,
    CheckCommand.self, RepairCommand.self, GCCommand.self, BackupCommand.self, RestoreCommand.self,
    CompletionCommand.self,
  ]

  static let program = ProgramDeclaration(
    name: "spool",
    summary: "Take recordings from the inbox to the archive, and never lose one.",
    version: version, commands: commands.map { $0.declaration })

  static func main() {
    ConfinedProgram.launchIfAsked()
    if CommandLine.arguments.count == 3, CommandLine.arguments[1] == Plugin.hostingWord {
      exit(NativePlugin.serve(library: CommandLine.arguments[2]))
    }
    if CommandLine.arguments.count == 3, CommandLine.arguments[1] == HostOrder.word,
      let order = HostOrder(CommandLine.arguments[2])
    {
      exit(EffectHost.obey(order))
    }
    // Threads come and go with every pass; an arena for each would scatter the memory. And what
    // grows large must grow in place, not be copied beside itself.
    mallopt(M_ARENA_MAX, 2)
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
    let console = Console()
    let code = run(Array(CommandLine.arguments.dropFirst()), console: console)
    console.flush()
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
        guard let type = commands.first(where: { $0.declaration.name == parsed.command.name })
        else { return .usage }
        return type.init(parsed).run(console: console)
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

/// One command of the program.
protocol Command {
  /// What it takes, and what help says about it.
  static var declaration: CommandDeclaration { get }
  /// Takes what the user gave.
  init(_ arguments: ParsedArguments)
  /// Does it. What goes wrong is reported on the console.
  func run(console: Console) -> ExitCode
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
  /// Something is not what it should be.
  static let verificationFailed = ExitCode(rawValue: 4)

  /// Some of a batch failed.
  static let someFailed = ExitCode(rawValue: 3)

  /// Ended by a signal, at a clean point.
  static func interrupted(by signal: Int32) -> ExitCode { ExitCode(rawValue: 128 + signal) }
}

/// `spool completion`: completion for the shell, and manual pages.
struct CompletionCommand: Command {
  private static let form = Positional<Form>.required(
    "SHELL", help: "The shell; or man, for a manual page.")
  private static let command = Positional<String?>.optional(
    "COMMAND", help: "With man: the command; left out, the whole program.")

  static let declaration = CommandDeclaration(
    name: "completion", group: "Shell",
    summary: "Print the completion script of a shell, or a manual page.",
    positionals: [form, command],
    examples: [
      Example(
        "For bash", "spool completion bash > ~/.local/share/bash-completion/completions/spool"),
      Example("For zsh", "spool completion zsh > ~/.zfunc/_spool"),
      Example("Read a manual page", "spool completion man run | man -l -"),
    ])

  private enum Form: String, CaseIterable, ArgumentValue {
    case bash, zsh, man
  }

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let name = arguments[Self.command]
    let command = name.flatMap(Spool.program.command(named:))
    switch (arguments[Self.form], name) {
    case (.bash, nil): console.draw(CompletionScript.bash(Spool.program).text)
    case (.zsh, nil): console.draw(CompletionScript.zsh(Spool.program).text)
    case (.man, nil): console.draw(Spool.program.manPage(for: nil))
    case (.man, _?) where command != nil: console.draw(Spool.program.manPage(for: command))
    case (let form, let name?):
      let problem = form == .man ? "there is no command \(name)" : "a script is for all commands"
      console.report(
        "\(console.red("error:")) \(Format.visible(problem))\nnext:  spool help completion")
      return .usage
    }
    return .done
  }
}

/// `spool status`: what waits, runs, failed and is quarantined, since when, and what to type.
struct StatusCommand: Command {
  static let declaration = CommandDeclaration(
    name: "status", group: "Watch",
    summary: "Say what waits, runs, failed and is quarantined.",
    discussion: """
      Counts the notes of all inboxes by how they stand, with how long the oldest has stood so, and \
      names runs that did not come to their end, notes that claim another one's identity until \
      somebody has decided, inboxes that pause because their results have nowhere to go, and how many \
      receipts wait for a time stamp. The lines behind "next:" can be typed as they are.
      """,
    options: [Options.store, Options.json])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let context = CommandContext(console: console)
    do throws(CommandContext.Refusal) {
      let readable = try context.readableStore(at: arguments[Options.store])
      defer { withExtendedLifetime(readable) {} }
      let status = try StoreStatus(context, readable.store, named: arguments[Options.store])
      console.print(
        arguments[Options.json]
          ? JSONText.of(status) : status.text(at: SystemClock().now))
      return .done
    } catch {
      console.report(error.text)
      return error.code
    }
  }
}

/// `spool check-pipeline`: every problem of a pipeline at once.
struct CheckPipelineCommand: Command {
  private static let files = Positional<[String]>.repeated(
    "PIPELINE", help: "The pipelines' files.", completion: .files(extensions: ["yaml", "yml"]))

  static let declaration = CommandDeclaration(
    name: "check-pipeline", group: "Pipelines",
    summary: "Report every problem of a pipeline, each with its place and what is allowed.",
    positionals: [files], options: [Options.plugins, Options.json],
    examples: [Example("Check all pipelines", "spool check-pipeline Pipelines/*.yaml")])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let context = CommandContext(console: console, plugins: arguments[Options.plugins])
    var code = ExitCode.done
    for path in arguments[Self.files] {
      do throws(CommandContext.Refusal) {
        let (problems, text) = try context.problems(at: path)
        if arguments[Options.json] {
          for problem in problems { console.print(problem.value(in: path).canonicalJSON) }
        } else if problems.isEmpty {
          console.print("\(Format.visible(path)): no problems")
        } else {
          throw context.refusal(problems, in: text, at: path)
        }
        if !problems.isEmpty { code = .usage }
      } catch {
        console.report(error.text)
        code = error.code
      }
    }
    return code
  }
}

/// `spool graph`: a pipeline as a picture in text.
struct GraphCommand: Command {
  private static let format = Option<GraphFormat>.value(
    "format", "FORMAT", default: .mermaid, help: "The language of the picture.")

  static let declaration = CommandDeclaration(
    name: "graph", group: "Pipelines",
    summary: "Draw a pipeline as a Mermaid or Graphviz (DOT) graph.",
    positionals: [Options.pipeline], options: [format, Options.plugins],
    examples: [
      Example("A picture", "spool graph Pipelines/podcast.yaml --format dot | dot -Tsvg > p.svg")
    ])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let context = CommandContext(console: console, plugins: arguments[Options.plugins])
    do throws(CommandContext.Refusal) {
      let pipeline = try context.pipeline(at: arguments[Options.pipeline])
      let inputs = Dictionary(
        pipeline.definition.inputs.flatMap(\.leastNames).map { ($0, "") }, uniquingKeysWith: { $1 })
      let graph = PipelineGraph(
        try context.plan(pipeline, inputs: inputs, overrides: [], checksEquipment: false),
        of: pipeline.definition)
      console.draw(arguments[Self.format] == .dot ? graph.dot : graph.mermaid)
      return .done
    } catch {
      console.report(error.text)
      return error.code
    }
  }
}

/// What `--format` says.
enum GraphFormat: String, CaseIterable, ArgumentValue {
  case mermaid
  case dot
}

/// `spool schema`: the JSON Schema of pipelines, and of what receipts state.
struct SchemaCommand: Command {
  /// What the schema is of.
  enum Subject: String, CaseIterable, ArgumentValue {
    case pipeline, receipt
  }

  private static let subject = Positional<Subject?>.optional(
    "SUBJECT", help: "Whose schema it is; left out, pipeline.")

  static let declaration = CommandDeclaration(
    name: "schema", group: "Pipelines",
    summary: "Print the JSON Schema of pipelines or of receipts.",
    discussion: """
      In Visual Studio Code with the YAML extension, save it as spool.schema.json and begin a \
      pipeline with:  # yaml-language-server: $schema=spool.schema.json

      That of receipts is for what the payload of their envelope holds: the statement that is signed.
      """,
    positionals: [subject], options: [Options.plugins],
    examples: [
      Example("Save it", "spool schema > spool.schema.json"),
      Example("What receipts state", "spool schema receipt"),
    ])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    switch arguments[Self.subject] ?? .pipeline {
    case .pipeline:
      return CommandContext(console: console, plugins: arguments[Options.plugins]).withStages {
        catalog in
        console.print(PipelineSchema(catalog).value.indentedJSON)
        return .done
      }
    case .receipt:
      let schema = ReceiptForm.schema
      console.print(Value(json: JSONText.of(schema))?.indentedJSON ?? JSONText.of(schema))
      return .done
    }
  }
}

/// `spool runs`: what was run, newest first.
struct RunsCommand: Command {
  private static let limit = Option<Int>.value(
    "limit", "N", short: "n", default: 20, help: "Show so many; 0 shows all.")

  static let declaration = CommandDeclaration(
    name: "runs", group: "History",
    summary: "List the runs, newest first.",
    options: [limit, Options.store, Options.json])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    do throws(CommandContext.Refusal) {
      let context = CommandContext(console: console)
      let readable = try context.existingStore(at: arguments[Options.store])
      defer { withExtendedLifetime(readable) {} }
      let limit = arguments[Self.limit]
      guard limit >= 0 else {
        throw CommandContext.Refusal(
          text: "\(console.red("error:")) --limit is 0 or more, not \(limit)\nnext:  0 shows all",
          code: .usage)
      }
      let runs = try context.runs(limit: limit == 0 ? .max : limit, in: readable.store)
      if arguments[Options.json] {
        for run in runs { console.print(JSONText.of(run)) }
      } else {
        console.print(runs.isEmpty ? context.noRuns(in: readable.store) : text(runs))
        if let run = unfinished(runs), let wayOn = run.wayOn {
          let first = run.state == .paused ? "free some space; then " : ""
          let way = "\(first)\(wayOn) goes on with the newest that is not done"
          let missing = MissingRecording(
            of: run, beside: runs, store: arguments[Options.store])
          console.report("next:  \(Format.visible(missing?.line ?? way))")
        }
      }
      return .done
    } catch {
      console.report(error.text)
      return error.code
    }
  }

  /// The newest run that is worth going on with.
  private func unfinished(_ runs: [RunRecord]) -> RunRecord? {
    RunRecord.unsettled(in: runs).first { $0.wayOn != nil }
  }

  private func text(_ runs: [RunRecord]) -> String {
    let width = (runs.map(\.pipeline.count).max() ?? 0) + 2
    let standingWidth = max(12, (runs.map(\.status.count).max() ?? 0) + 2)
    return runs.map { run in
      let files = run.inputs.values.sorted().map { $0.split(separator: "/").last ?? "" }
      let time = run.seconds.map { Format.duration($0) } ?? ""
      return "\(run.id)  \(Format.time(run.startedAt))  \(Format.pad(run.status, standingWidth))"
        + "\(Format.padLeft(time, 12))  \(Format.pad(run.pipeline, width))"
        + Format.visible(files.joined(separator: ", "))
    }.joined(separator: "\n")
  }
}

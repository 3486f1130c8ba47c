import Glibc
import Intake
import Media
import PipelineEngine
import PipelineModel
import Platform
import Receipts
import SoundEngine
import Stages

/// `spool batch`: runs one pipeline on every recording in a folder.
struct BatchCommand: Command {
  private static let folder = Positional<String>.required(
    "FOLDER", help: "The folder with the recordings; those below it count too.",
    completion: .folder)
  private static let jobs = Option<Int?>.value(
    "jobs", "N", short: "j", help: "Files to work on at once.",
    defaultText: "what cores and memory allow")
  private static let include = Option<[String]>.values(
    "include", "GLOB", help: "Take files that match too, whatever their extension.")
  private static let exclude = Option<[String]>.values(
    "exclude", "GLOB", help: "Leave out files and folders that match.")
  private static let failed = Option<Bool>.flag(
    "failed", help: "Only work on files that failed in the last batch.")
  private static let name = Option<String?>.value(
    "name", "TEMPLATE", help: "Names for the exports: '{album}/{date}-{title}.{ext}'.",
    defaultText: "those of the recordings")

  static let declaration = CommandDeclaration(
    name: "batch", group: "Work",
    summary: "Run a pipeline on every recording in a folder.",
    discussion: """
      Works on several files at once. A file that fails stops no other one: the summary and \
      batch.json in the output folder say what failed and why, and the exit code is 3. Files that \
      were done before, with the same pipeline and settings, are left alone; the same command goes \
      on where an earlier one was stopped.

      Without --name, the output folder mirrors the folder. A template takes fields from a \
      recording's sidecar, its tags and its file name: {title}, {date}, {album}, {artist}, {stem}, \
      {folder}, and any other as {tag.NAME} or {sidecar.NAME}. {date} is the first whole day in the \
      sidecar, the tags and the file name, in this order. Where two files want one name, the \
      second gets -2, and that is told.

      note.json beside note.m4a may hold "spool": {"set": {"loudness": "-18 LUFS"}}: it changes \
      variables that the pipeline marks overridable, for that recording alone.

      Hidden files, links out of the folder, the output folder and the output of other batches \
      are left out, and so are pipes and files that are no recordings; what was is counted, and \
      named in batch.json. A pattern without a slash is for names, one with a slash for paths below \
      FOLDER; ** stands for any folders.
      """,
    positionals: [Options.pipeline, folder],
    options: [
      Options.out, jobs, include, exclude, failed, Options.set, name, Options.plugins,
      Options.store,
      Options.keys, Options.passphraseFile, Options.replace, Options.ignoreRoom, Options.json,
      Options.quiet,
    ],
    examples: [
      Example("Clean every note of a trip", "spool batch Pipelines/voice-note.yaml trip"),
      Example("Try again what failed", "spool batch Pipelines/voice-note.yaml trip --failed"),
      Example(
        "By album and date",
        "spool batch podcast.yaml notes --name '{album}/{date}-{title}.{ext}'"),
    ])

  let arguments: ParsedArguments

  func run(console: Console) throws(SpoolError) -> ExitCode {
    let context = CommandContext(console: console, plugins: arguments[Options.plugins])
    let order = try order(context)
    let store = try context.store(at: arguments[Options.store])
    let receiptWriter = context.receiptWriter(
      keys: arguments[Options.keys], passphraseFile: arguments[Options.passphraseFile], store: store
    )
    if order.asksForReceipts { try receiptWriter.unlock() }
    let stop = SignalWatch.begin()
    let clock = SystemClock()
    let workplace = BatchEnvironment(
      store: store, executors: [SoundPassExecutor(coreCount: CoreCount.online)],
      tags: { try? MediaProbe.describe($0).tags },
      length: { try? MediaProbe.describe($0).durationInSeconds }, stop: stop, clock: clock,
      recorder: recorder(order, clock, console), receiptWriter: receiptWriter)
    let runner = BatchRunner(
      order, in: workplace,
      budget: BatchBudget(jobs: arguments[Self.jobs], coreCount: CoreCount.online))
    let code = run(runner, clock.makeRunID(), stop, console)
    if !stop.isRequested {
      LastStamps(
        store, storeOption: arguments[Options.store], voice: RunLaunch.Voice(arguments),
        console: console
      ).ask(clock, stop: stop)
    }
    return code
  }

  /// Runs the batch. An error is reported at once, before the time stamps are asked for.
  private func run(
    _ runner: BatchRunner, _ id: RunID, _ stop: StopRequest, _ console: Console
  ) -> ExitCode {
    do throws(SpoolError) {
      let summary = try runner.run(id: id)
      if let trouble = summary.reportTrouble { console.report("warning: \(trouble)") }
      if let signal = stop.signalNumber, summary.interruptedCount > 0 {
        console.report("stopped; the same command goes on from there")
        return .interrupted(by: signal)
      }
      if let pause = summary.pause {
        throw SpoolError(
          pause.message, reason: pause.reason,
          advice: (pause.isFullDisk ? "free some space" : pause.advice ?? "mend that")
            + "; the same command goes on with the files that are left", cause: pause.cause)
      }
      guard !summary.failed.isEmpty else { return .done }
      return summary.doneCount + summary.reusedCount == 0 ? .failed : .someFailed
    } catch {
      if let signal = stop.signalNumber, error.cause == .cancelled {
        return .interrupted(by: signal)
      }
      console.report(error.text(console))
      return .failed
    }
  }

  /// The options, with the folders checked.
  private func order(_ context: CommandContext) throws(SpoolError) -> BatchOrder {
    if let jobs = arguments[Self.jobs], jobs < 1 {
      throw .usage("--jobs \(jobs) works on nothing", advice: "--jobs 1, or more")
    }
    let template = try template()
    let selection = FileSelection(
      including: try globs(Self.include), excluding: try globs(Self.exclude))
    let pipeline = try context.pipeline(at: arguments[Options.pipeline])
    let folder = try Self.recordingFolder(context.absolute(arguments[Self.folder]))
    let output = try OutputFolder.prepare(context.absolute(arguments[Options.out] ?? "exports"))
    guard output != folder else {
      throw .usage(
        "exports cannot go into the folder of the recordings, \(folder)",
        advice: "choose another folder with --out")
    }
    let overrides = try context.parse(arguments[Options.set])
    let named = context.absolute(pipeline.path)
    do {
      var order = try BatchOrder(
        pipeline.definition, pipelinePath: ResolvedPath.of(named),
        namedPipelinePath: named, catalog: pipeline.catalog, overrides: overrides,
        overrideTexts: context.texts(arguments[Options.set]), folder: folder, output: output)
      order.selection = selection
      order.template = template
      order.retriesFailedOnly = arguments[Self.failed]
      order.isReplacing = arguments[Options.replace]
      order.ignoresRoom = arguments[Options.ignoreRoom]
      order.pipelineText = pipeline.text
      order.command = commandLine(order, context)
      order.pluginFolder = context.pluginFolder
      order.plugins = PluginUsage(context.registry(beside: pipeline.path)).uses(
        of: pipeline.definition)
      return order
    } catch {
      throw context.refusal(error.problems, in: pipeline.text, at: pipeline.path)
    }
  }

  /// The command that resumes this batch, valid in any folder.
  private func commandLine(_ order: BatchOrder, _ context: CommandContext) -> String {
    var words = ["spool", "batch", order.pipelinePath, order.folder, "--out", order.output]
    for pattern in arguments[Self.include] { words += ["--include", pattern] }
    for pattern in arguments[Self.exclude] { words += ["--exclude", pattern] }
    for override in arguments[Options.set] { words += ["--set", override] }
    if let name = arguments[Self.name] { words += ["--name", name] }
    if let plugins = context.pluginFolder { words += ["--plugins", plugins] }
    if let store = arguments[Options.store] { words += ["--store", store] }
    if let keys = arguments[Options.keys] { words += ["--keys", keys] }
    if let file = arguments[Options.passphraseFile] { words += ["--passphrase-file", file] }
    if order.isReplacing { words.append("--replace") }
    if order.ignoresRoom { words.append("--ignore-room") }
    return ShellWords.line(words)
  }

  private func template() throws(SpoolError) -> NameTemplate? {
    guard let text = arguments[Self.name] else { return nil }
    do throws(SpoolError) { return try NameTemplate(text) } catch {
      throw .usage(
        "--name \(text): \(error.message)", reason: error.advice,
        advice: "--name '{album}/{date}-{title}.{ext}'")
    }
  }

  private func globs(_ option: Option<[String]>) throws(SpoolError) -> [Glob] {
    try arguments[option].map { (text) throws(SpoolError) in
      guard let glob = Glob(text) else {
        throw .usage(
          "--\(option.declaration.name) \(text) is no pattern",
          advice: "close its brackets and braces, as in '*.{wav,m4a}'")
      }
      return glob
    }
  }

  /// The user's folder of recordings without links, so that each folder has one path.
  private static func recordingFolder(_ path: String) throws(SpoolError) -> String {
    let advice = "name a folder of recordings; one file goes to spool run"
    guard let resolved = unsafe realpath(path, nil) else {
      throw .usage(
        "cannot read the folder \(path)",
        reason: unsafe String(cString: strerror(errno)).lowercased(), advice: advice)
    }
    defer { unsafe free(resolved) }
    var status = stat()
    guard unsafe stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw .usage("\(path) is not a folder", reason: "it is a file", advice: advice)
    }
    return unsafe String(cString: resolved)
  }

  private func recorder(
    _ order: BatchOrder, _ clock: SystemClock, _ console: Console
  ) -> any BatchRecorder {
    if arguments[Options.json] { return JSONRecorder(console) }
    return BatchTerminalRecorder(
      order, isQuiet: arguments[Options.quiet], clock: clock, console: console)
  }
}

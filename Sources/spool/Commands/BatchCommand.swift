import Glibc
import Intake
import Media
import PipelineEngine
import PipelineModel
import Platform
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

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let context = CommandContext(console: console, plugins: arguments[Options.plugins])
    do throws(CommandContext.Refusal) {
      let order = try order(context)
      let store = try context.store(at: arguments[Options.store])
      let receiptWriter = context.receiptWriter(
        keys: arguments[Options.keys], passphraseFile: arguments[Options.passphraseFile],
        log: store)
      if order.asksForReceipts { try context.unlock(receiptWriter) }
      let stop = SignalWatch.begin()
      let clock = SystemClock()
      let workplace = BatchEnvironment(
        store: store, executors: [SoundPassExecutor(coreCount: CoreCount.online)],
        tags: { try? MediaProbe.describe($0).tags },
        length: { try? MediaProbe.describe($0).durationInSeconds }, stop: stop, clock: clock,
        recorder: recorder(order, clock, console),
        receiptWriter: receiptWriter)
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
    } catch {
      console.report(error.text)
      return error.code
    }
  }

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
        let isFull = pause.cause == .fullDisk
        console.report(
          ErrorText(
            SpoolError(
              pause.message, reason: pause.reason,
              advice: (isFull ? "free some space" : pause.advice ?? "mend that")
                + "; the same command goes on with the files that are left",
              cause: pause.cause)
          ).render(console))
        return .failed
      }
      guard !summary.failed.isEmpty else { return .done }
      return summary.doneCount + summary.reusedCount == 0 ? .failed : .someFailed
    } catch {
      if let signal = stop.signalNumber, error.cause == .cancelled {
        return .interrupted(by: signal)
      }
      console.report(ErrorText(error).render(console))
      return .failed
    }
  }

  /// The options, with the folders checked.
  private func order(_ context: CommandContext) throws(CommandContext.Refusal) -> BatchOrder {
    let console = context.console
    if let jobs = arguments[Self.jobs], jobs < 1 {
      throw usage("--jobs \(jobs) works on nothing", next: "--jobs 1, or more", console)
    }
    let template = try template(console)
    let selection = FileSelection(
      including: try globs(Self.include, console), excluding: try globs(Self.exclude, console))
    let pipeline = try context.pipeline(at: arguments[Options.pipeline])
    let folder = try RecordingFolder.resolve(
      context.absolute(arguments[Self.folder]), console: console)
    let output = try OutputFolder.prepare(
      context.absolute(arguments[Options.out] ?? "exports"), console: console)
    guard output != folder else {
      throw usage(
        "exports cannot go into the folder of the recordings, \(folder)",
        next: "choose another folder with --out", console)
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

  private func template(_ console: Console) throws(CommandContext.Refusal) -> NameTemplate? {
    guard let text = arguments[Self.name] else { return nil }
    do throws(SpoolError) { return try NameTemplate(text) } catch {
      throw usage(
        "--name \(text): \(error.message)", why: error.advice,
        next: "--name '{album}/{date}-{title}.{ext}'", console)
    }
  }

  private func globs(
    _ option: Option<[String]>, _ console: Console
  ) throws(CommandContext.Refusal) -> [Glob] {
    var globs: [Glob] = []
    for text in arguments[option] {
      guard let glob = Glob(text) else {
        throw usage(
          "--\(option.declaration.name) \(text) is no pattern",
          next: "close its brackets and braces, as in '*.{wav,m4a}'", console)
      }
      globs.append(glob)
    }
    return globs
  }

  private func usage(
    _ what: String, why: String? = nil, next: String, _ console: Console
  ) -> CommandContext.Refusal {
    let reason = why.map { "why:   \($0)\n" } ?? ""
    return CommandContext.Refusal(
      text: "\(console.red("error:")) \(Format.visible(what))\n\(reason)next:  \(next)",
      code: .usage)
  }

  private func recorder(
    _ order: BatchOrder, _ clock: SystemClock, _ console: Console
  ) -> any BatchRecorder {
    if arguments[Options.json] { return BatchJSONRecorder(console) }
    return BatchTerminalRecorder(
      order, isQuiet: arguments[Options.quiet], clock: clock, console: console)
  }
}

/// The user's folder of recordings.
enum RecordingFolder {
  /// Resolves links, so that each folder has one path.
  static func resolve(_ path: String, console: Console) throws(CommandContext.Refusal) -> String {
    guard let resolved = unsafe realpath(path, nil) else {
      throw refusal(
        "cannot read the folder \(path)",
        reason: unsafe String(cString: strerror(errno)).lowercased(), console)
    }
    defer { unsafe free(resolved) }
    var status = stat()
    guard unsafe stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw refusal("\(path) is not a folder", reason: "it is a file", console)
    }
    return unsafe String(cString: resolved)
  }

  private static func refusal(
    _ message: String, reason: String, _ console: Console
  ) -> CommandContext.Refusal {
    CommandContext.Refusal(
      text: ErrorText(
        SpoolError(
          message, reason: reason, advice: "name a folder of recordings; one file goes to spool run"
        )
      ).render(console), code: .usage)
  }
}

/// Writes one JSON object for each event of a batch.
struct BatchJSONRecorder: BatchRecorder {
  private let console: Console

  init(_ console: Console) { self.console = console }

  func record(_ event: BatchEvent) { console.print(JSONText.of(BatchEventLine(event))) }
}

/// An event as `--json` shows it: `event` names it, and the other members depend on it.
private struct BatchEventLine: Encodable {
  private var event = ""
  private var path: String?
  private var fraction: Double?
  private var share: Double?
  private var step: String?
  private var message: String?
  private var outcome: String?
  private var error: BatchFileResult.Failure?
  private var mediaSeconds: Double?
  private var findings: [String: JSONValue]?
  private var plan: Plan?
  private var settled: [String: String]?
  private var round: Int?
  private var done: Int?
  private var files: Int?
  private var summary: Summary?

  /// The plan, reported at the start.
  private struct Plan: Encodable {
    let pending: Int
    let reused: Int
    let leftOut: Int
    let impossible: Int
    let mediaSeconds: Double
    let storeBytes: Int
    let publishedBytes: Int
    let storeFreeBytes: Int
    let outputFreeBytes: Int
    let seconds: Double
    let isSampled: Bool
    let workers: Int
    let exportFolders: [String]
    let skipped: [String: Int]
    let renamed: Int
  }

  /// The summary, reported at the end.
  private struct Summary: Encodable {
    let done: Int
    let reused: Int
    let failed: Int
    let interrupted: Int
    let seconds: Double
    let skipped: [String: Int]
    let renamed: Int
    let pause: String?
    let report: String?
  }

  init(_ event: BatchEvent) {
    switch event {
    case .listening(let step, let round, let done, let count):
      self.event = "listening"
      self.step = step.name
      self.round = round
      self.done = done
      files = count
    case .settled(let step, let figures):
      self.event = "settled"
      self.step = step.name
      settled = figures
    case .planned(let forecast):
      self.event = "plan"
      plan = Plan(
        pending: forecast.pendingCount, reused: forecast.reusedCount,
        leftOut: forecast.leftOutCount, impossible: forecast.troubleCount,
        mediaSeconds: forecast.mediaSeconds, storeBytes: forecast.storeByteCount,
        publishedBytes: forecast.publishedByteCount, storeFreeBytes: forecast.storeFreeByteCount,
        outputFreeBytes: forecast.outputFreeByteCount, seconds: forecast.seconds,
        isSampled: forecast.isSampled, workers: forecast.workerCount,
        exportFolders: forecast.exportFolders, skipped: forecast.skipped.namedCounts,
        renamed: forecast.renamedCount)
    case .started(let path, let share):
      self.event = "started"
      self.path = path
      self.share = share
    case .progress(let path, let fraction):
      self.event = "progress"
      self.path = path
      self.fraction = fraction
    case .warning(let path, let step, let text):
      self.event = "warning"
      self.path = path
      self.step = step.name
      message = text
    case .finished(let result):
      self.event = "file"
      path = result.path
      outcome = result.outcome.rawValue
      error = result.failure
      mediaSeconds = result.mediaSeconds
      findings = result.findings.isEmpty ? nil : result.findings
    case .ended(let end):
      self.event = "ended"
      summary = Summary(
        done: end.doneCount, reused: end.reusedCount, failed: end.failed.count,
        interrupted: end.interruptedCount, seconds: end.seconds,
        skipped: end.skipped.namedCounts, renamed: end.renamedCount,
        pause: end.pause?.message, report: end.reportPath)
    }
  }
}

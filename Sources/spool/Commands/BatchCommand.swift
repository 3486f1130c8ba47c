import Delivery
import Glibc
import Intake
import Media
import PipelineEngine
import PipelineModel
import Platform
import Receipts
import SoundEngine
import Stages
import Store

extension Command {
  /// `spool batch`: runs one pipeline on every recording in a folder.
  static let batch = Command(
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
      second gets -2, and that is told. The name takes the place of {stem} in the names that the \
      pipeline gives; one without {stem} stays, and one recording in a folder can have it.

      note.json beside note.m4a may hold "spool": {"set": {"loudness": "-18 LUFS"}}: it changes \
      variables that the pipeline marks overridable, for that recording alone.

      Hidden files, links out of the folder, stores, the output folder and the output of other \
      batches are left out, and so are pipes, files that are no recordings, and exports of earlier runs of \
      recordings in the folder, unless --include names them; what was is counted, and named in \
      batch.json. A pattern without a slash is for names, one with a slash for paths below \
      FOLDER; ** stands for any folders.
      """,
    positionals: [Options.pipeline, Options.folder],
    options: [
      Options.out, Options.jobs, Options.include, Options.exclude, Options.failed, Options.set,
      Options.name, Options.plugins, Options.store, Options.keys, Options.passphraseFile,
      Options.replace, Options.ignoreRoom, Options.destinations, Options.deliverWait,
      Options.ignoreMounts, Options.noSandbox, Options.json,
      Options.quiet,
    ],
    examples: [
      Example("Clean every note of a trip", "spool batch Pipelines/voice-note.yaml trip"),
      Example("Try again what failed", "spool batch Pipelines/voice-note.yaml trip --failed"),
      Example(
        "By album and date",
        "spool batch podcast.yaml notes --name '{album}/{date}-{title}.{ext}'"),
    ],
    perform: CommandContext.runBatch)
}

extension Options {
  fileprivate static let folder = Positional<String>.required(
    "FOLDER", help: "The folder with the recordings; those below it count too.", completion: .folder
  )
  fileprivate static let jobs = Option<Int?>.value(
    "jobs", "N", short: "j", help: "Files to work on at once.",
    defaultText: "what cores and memory allow")
  fileprivate static let include = Option<[String]>.values(
    "include", "GLOB", help: "Take files that match too, whatever their extension.")
  fileprivate static let exclude = Option<[String]>.values(
    "exclude", "GLOB", help: "Leave out files and folders that match.")
  fileprivate static let failed = Option<Bool>.flag(
    "failed", help: "Only work on files that failed in the last batch.")
  fileprivate static let name = Option<String?>.value(
    "name", "TEMPLATE", help: "Names for the exports: '{album}/{date}-{title}.{ext}'.",
    defaultText: "those of the recordings")
}

extension CommandContext {
  fileprivate func runBatch() throws(SpoolError) -> ExitCode {
    let (order, finding, store, receiptWriter) = try refusing(prepare)
    let destinations = order.deliveries.isEmpty ? nil : try refusing(self.destinations)
    warnOfUnused(arguments[Options.set], in: order.definition)
    let stop = console.heed(SignalWatch.begin())
    let clock = SystemClock()
    let workplace = BatchEnvironment(
      store: store, executors: [SoundPassExecutor(coreCount: CoreCount.online)],
      tags: { try? MediaProbe.describe(SourceFile($0)).tags },
      length: { try? MediaProbe.describe(SourceFile($0)).durationInSeconds }, stop: stop,
      clock: clock,
      recorder: recorder(order, clock), receiptWriter: receiptWriter,
      delivery: destinations.map { Self.runDelivery(to: $0, in: store) },
      corrections: store.wordOverlay)
    let runner = BatchRunner(
      order, in: workplace,
      budget: BatchBudget(jobs: arguments[Options.jobs], coreCount: CoreCount.online))
    let id = clock.makeRunID()
    let (code, reused) = run(runner, finding, id, stop)
    if !stop.isRequested {
      if destinations != nil {
        let writer = confirmationWriter(
          for: store, besides: order.asksForReceipts ? receiptWriter : nil)
        // What an earlier batch has queued may still wait.
        let others = (try? store.deliveries.undelivered(among: reused)) ?? []
        sendLast(
          .of(batch: id, others: others), in: store, signing: writer, isSummed: true, clock,
          stop: stop)
      }
      askForLastStamps(in: store, clock, stop: stop)
      collectIfDue(in: store) { stop.isRequested }
    }
    return code
  }

  /// What the batch is of and works with: what refuses it as a whole comes up here, or when it begins.
  private func prepare() throws(SpoolError) -> (
    BatchOrder, TreeWalk.Finding, DiskStore, SignedReceiptWriter
  ) {
    let order = try order()
    let finding = try order.find()
    let store = try openStore()
    let receiptWriter = receiptWriter(for: store)
    if order.asksForReceipts { try receiptWriter.unlock() }
    return (order, finding, store, receiptWriter)
  }

  /// Runs the batch. An error is reported at once, before the time stamps are asked for.
  /// - Returns: the runs in which files were done before too.
  private func run(
    _ runner: BatchRunner, _ finding: TreeWalk.Finding, _ id: RunID, _ stop: StopRequest
  ) -> (ExitCode, reused: [RunID]) {
    do throws(SpoolError) {
      let summary = try refusing { () throws(SpoolError) in try runner.run(finding, id: id) }
      if let trouble = summary.reportTrouble { console.report("warning: \(trouble)") }
      if let signal = stop.signalNumber, summary.interruptedCount > 0 {
        console.report("stopped; the same command goes on from there")
        return (.interrupted(by: signal), [])
      }
      if let pause = summary.pause { throw pause }
      guard !summary.failed.isEmpty else { return (.done, summary.reusedRuns) }
      let isNoneDone = summary.doneCount + summary.reusedCount == 0
      return (isNoneDone ? .failed : .someFailed, summary.reusedRuns)
    } catch {
      if let signal = stop.signalNumber, error.cause == .cancelled {
        return (.interrupted(by: signal), [])
      }
      report(Self.resumable(error))
      return (error.kind == .usage ? .usage : .failed, [])
    }
  }

  /// A batch that is refused as a whole has an `ended` event too.
  private func refusing<Result>(
    _ work: () throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    do throws(SpoolError) { return try work() } catch {
      if isJSON { JSONRecorder(console).record(.ended(BatchSummary([], seconds: 0))) }
      throw error
    }
  }

  /// What pauses the whole batch, with how it continues; any other error as it is.
  private static func resumable(_ error: SpoolError) -> SpoolError {
    guard [.fullDisk, .blocked].contains(error.cause) else { return error }
    return SpoolError(
      error.message, reason: error.reason,
      advice: (error.isFullDisk ? "free some space" : error.advice ?? "mend that")
        + "; the same command goes on with the files that are left", cause: error.cause)
  }

  /// The options, with the folders checked.
  private func order() throws(SpoolError) -> BatchOrder {
    if let jobs = arguments[Options.jobs], jobs < 1 {
      throw .usage("--jobs \(jobs) works on nothing", advice: "--jobs 1, or more")
    }
    let template = try template()
    let selection = FileSelection(
      including: try globs(Options.include), excluding: try globs(Options.exclude))
    let pipeline = try pipeline(at: arguments[Options.pipeline])
    let folder = try Self.recordingFolder(absolute(arguments[Options.folder]))
    let output = try OutputFolder.check(absolute(arguments[Options.out] ?? "exports"))
    guard output != folder else {
      throw .usage(
        "exports cannot go into the folder of the recordings, \(folder)",
        advice: "choose another folder with --out")
    }
    let overrides = try parse(arguments[Options.set])
    let named = absolute(pipeline.path)
    do {
      var order = try BatchOrder(
        pipeline.definition, pipelinePath: ResolvedPath.of(named),
        namedPipelinePath: named, catalog: pipeline.catalog, overrides: overrides,
        overrideTexts: texts(arguments[Options.set]), folder: folder, output: output)
      order.selection = selection
      order.template = template
      order.retriesFailedOnly = arguments[Options.failed]
      order.isReplacing = arguments[Options.replace]
      order.ignoresRoom = arguments[Options.ignoreRoom]
      order.ignoresMounts = arguments[Options.ignoreMounts]
      order.pipelineText = pipeline.text
      order.pluginFolder = pluginFolder
      order.signing = order.asksForReceipts ? signing : nil
      order.command = commandLine(order)
      order.plugins = PluginUsage(registry(beside: pipeline.path)).uses(of: pipeline.definition)
      return order
    } catch {
      throw refusal(error.problems, in: pipeline.text, at: pipeline.path)
    }
  }

  /// The command that resumes this batch, valid in any folder.
  private func commandLine(_ order: BatchOrder) -> String {
    var words = ["spool", "batch", order.pipelinePath, order.folder, "--out", order.output]
    for pattern in arguments[Options.include] { words += ["--include", pattern] }
    for pattern in arguments[Options.exclude] { words += ["--exclude", pattern] }
    for override in arguments[Options.set] { words += ["--set", override] }
    if let name = arguments[Options.name] { words += ["--name", name] }
    if let plugins = pluginFolder { words += ["--plugins", plugins] }
    if let store = namedStore { words += ["--store", store] }
    words += order.signing?.options ?? []
    if !order.deliveries.isEmpty { words += destinationsOption }
    if order.isReplacing { words.append("--replace") }
    if order.ignoresRoom { words.append("--ignore-room") }
    return ShellWords.line(words)
  }

  private func template() throws(SpoolError) -> NameTemplate? {
    guard let text = arguments[Options.name] else { return nil }
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
    let resolved: String
    do throws(SystemError) { resolved = try FilePath.resolved(path) } catch {
      throw .usage(
        "cannot read the folder \(path)", reason: error.words.lowercased(), advice: advice)
    }
    guard (try? FileStamp(following: resolved))?.isFolder == true else {
      throw .usage("\(path) is not a folder", reason: "it is a file", advice: advice)
    }
    return resolved
  }

  private func recorder(_ order: BatchOrder, _ clock: SystemClock) -> any BatchRecorder {
    if isJSON { return JSONRecorder(console) }
    return BatchTerminalRecorder(order, isQuiet: isQuiet, clock: clock, console: console)
  }
}

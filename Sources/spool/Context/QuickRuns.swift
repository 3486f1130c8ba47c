import Audio
import Media
import PipelineEngine
import PipelineModel
import Platform
import SoundEngine
import Stages
import Store

/// The runs of one quick command, one after the other.
struct QuickRuns {
  let context: CommandContext
  /// The output folder, and how the user named it.
  let folder: String
  let shownFolder: String
  let temporary: TemporaryStore
  let clock: SystemClock
  let stop: StopRequest
  /// Whether there are several: warnings name their file then.
  let areSeveral: Bool

  private var isKept: Bool { context.arguments[QuickOptions.keep] }

  /// Runs one job to its end.
  /// - Throws: what failed, in terms of the command's options.
  func run(_ job: QuickJob, isDry: Bool) throws(SpoolError) -> QuickReport {
    try stop.check()
    let isReplacing = context.arguments[QuickOptions.replace]
    if isReplacing {
      if !isKept { try context.refuseRecordings(at: job.names.map { "\(folder)/\($0)" }) }
    } else if let name = job.names.first(where: { (try? FileStamp(at: "\(folder)/\($0)")) != nil }),
      try !isThere(job)
    {
      throw SpoolError(
        "\(shown(name)) is there already", reason: "nothing is replaced without being asked to",
        advice: "choose another name with --out, or add --replace", cause: .environment)
    }
    var report = QuickReport(inputs: job.inputs, outputs: job.names.map(shown), isKept: isKept)
    if isDry { return report }
    let recorder = QuickRecorder(
      report.title, isSilent: context.voice != .full, clock: clock, console: context.console)
    let request = try request(job)
    let record = RunRecord(
      id: clock.makeRunID(), pipeline: job.plan.name, pipelinePath: job.pipeline.path,
      inputs: job.plan.inputs, overrides: [:], startedAt: clock.now, request: request)
    let store =
      isKept
      ? try context.store(for: job.plan, Runner.Options(request))
      : try temporaryStore(for: job.plan, request)
    defer { if !isKept { temporary.remove() } }
    var settings = Runner.Options(request)
    settings.makesFolder = true
    if isKept { settings.resumeCommand = context.resumeLine(record.id) }
    defer { warn(job.compromises + recorder.warnings, of: job) }
    do throws(RunError) {
      report.run = try context.runner(in: store, recorder, clock, stop)
        .run(job.plan, settings, record: record)
    } catch {
      throw wording(error)
    }
    let replacing = isReplacing ? report.run?.published.map(\.path) ?? [] : []
    report.warnings =
      job.compromises + recorder.warnings.map(inOptions)
      + context.warnOfBrokenReceipts(at: replacing, in: store)
    return report
  }

  private func request(_ job: QuickJob) throws(SpoolError) -> RunRequest {
    let sidecars = try context.sidecars(of: job.plan.inputs, in: job.pipeline)
    return RunRequest(
      pipelineText: job.pipeline.text, folder: folder,
      isReplacing: context.arguments[QuickOptions.replace], keepsEverything: false, names: nil,
      pluginFolder: context.pluginFolder, chapters: sidecars.chapters, titles: sidecars.titles,
      fileName: job.stem)
  }

  /// Whether what a job would write is there already, from an earlier run of the same.
  private func isThere(_ job: QuickJob) throws(SpoolError) -> Bool {
    guard isKept else { return false }
    let readable = try context.readableStore()
    let forecast = try context.forecast(
      job.plan, Runner.Options(request(job)), in: readable.store)
    return forecast.units.isEmpty && forecast.publishedByteCount == 0
  }

  private func warn(_ warnings: [String], of job: QuickJob) {
    guard !context.isJSON else { return }
    let name = areSeveral ? job.inputs.joined(separator: " + ") + ": " : ""
    for warning in warnings {
      context.console.report("warning: \(Format.visible(name + inOptions(warning)))")
    }
  }

  /// How the user would name an output.
  private func shown(_ name: String) -> String {
    shownFolder == "." ? name : shownFolder + (shownFolder.hasSuffix("/") ? "" : "/") + name
  }

  /// A temporary store, beside the output or, if it does not fit there, in the folder for temporary
  /// files.
  func temporaryStore(for plan: Plan, _ request: RunRequest) throws(SpoolError) -> DiskStore {
    let other = Environment.temporaryFolder
    let store: DiskStore
    let beside = FilePath.existing(folder)
    do throws(SpoolError) { store = try temporary.open(in: beside) } catch {
      // A full disk, or a share that cannot hold a database.
      temporary.remove()
      guard let elsewhere = try? temporary.open(in: context.absolute(other)) else { throw error }
      return elsewhere
    }
    let (here, there) = (context.disk(of: folder), context.disk(of: context.absolute(other)))
    guard here.device != there.device, there.freeByteCount > here.freeByteCount,
      let forecast = try? context.forecast(plan, Runner.Options(request), in: store),
      forecast.storeByteCount + forecast.publishedByteCount + DiskStore.ownByteCount
        > here.freeByteCount
    else { return store }
    temporary.remove()
    return try temporary.open(in: context.absolute(other))
  }

  /// A run's error without steps, stages and a store, which the user of a quick command never named.
  func wording(_ failure: RunError) -> SpoolError {
    let error = failure.error
    let recording = failure.recording.map { error.message.contains($0) ? "" : " — \($0)" } ?? ""
    var advice = error.advice.map(inOptions)
    if error.isFullDisk, !isKept {
      advice =
        "free some space; choose another disk with --out; or name a folder with room for temporary "
        + "files in TMPDIR"
    }
    return SpoolError(
      inOptions(error.message) + recording, reason: error.reason.map(inOptions), advice: advice,
      cause: error.cause, kind: error.kind)
  }

  /// A text of a stage, with the options of quick commands in the place of parameters.
  private func inOptions(_ text: String) -> String {
    let way = context.arguments.command.name == "mix" ? "spool convert RECORDING " : ""
    let text = text.replacing("decode: { damaged: keep }", with: way + "--keep-damaged")
      .replacing("normalize: { peak: -1 dB }", with: "--peak -1")
      .replacing("recording: $first counts", with: "the first recording counts, or --title")
      .replacing(/decode: \{ stream: N \} takes another one: (.+)/) {
        "a pipeline with decode: { stream: N } takes another one (\($0.1)): --show prints this one"
      }
      .replacing(/true-peak: (\S+) dBTP of normalize/) { "--true-peak \($0.1)" }
      .replacing(
        ClippedSamples.advice,
        with: "spool normalize brings them down, and --format wav --bits float keeps them"
      )
      .replacing(ExportTags.bitsAdvice, with: "a WAV file with --bits float")
    return isKept ? text : text.replacing("the store", with: "the temporary store")
  }
}

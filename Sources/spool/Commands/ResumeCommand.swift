import Intake
import PipelineModel
import Platform
import Store

extension Command {
  /// `spool resume`: continues an unfinished run.
  static let resume = Command(
    name: "resume", group: "Work",
    summary: "Go on with a run that was stopped, failed or was cut off.",
    discussion: """
      The run goes on as it was told: the pipeline as it was then, although its file may have \
      changed, the same recordings, overrides and output folder. What is done is reused, and the \
      result is the same, byte for byte, as that of a run that was never stopped. It appears in \
      spool runs as a run of its own.

      Without a name, runs are left out that failed because of the recording or a parameter: they \
      would fail again. So are those whose recording, pipeline and folder a later run has done with \
      other settings; one that is named has its older exports put in the place of the newer ones with \
      --replace only.

      The run of one file of a batch goes on alone; running the same batch again goes on with all \
      of it.
      """,
    positionals: [Options.run],
    options: [
      Options.plugins, Options.store, Options.keys, Options.passphraseFile, Options.replace,
      Options.ignoreRoom, Options.destinations, Options.deliverWait, Options.ignoreMounts,
      Options.noSandbox, Options.json, Options.quiet,
    ],
    examples: [Example("Go on where Ctrl-C stopped", "spool resume")],
    perform: CommandContext.resume)
}

extension Options {
  fileprivate static let run = Positional<String?>.optional(
    "RUN",
    help:
      "The run's name, or its beginning; left out, the newest that can be brought to its end.",
    completion: NameKind.openRuns.hint())
}

extension CommandContext {
  fileprivate func resume() throws(SpoolError) -> ExitCode {
    try requireStore()
    let store = try openStore()
    if let earlier = try choose(store) {
      return try remembering(earlier).goOn(with: earlier, store)
    }
    if voice == .full {
      console.print(Format.visible(lines: try nothing(in: store)))
    }
    return .done
  }

  /// Why there is nothing to resume.
  private func nothing(in store: DiskStore) throws(SpoolError) -> [String] {
    if try store.runs.newest(limit: 1).isEmpty { return [noRuns(in: store)] }
    let open = try store.runs.open()
    guard let failed = open.first(where: { !store.isOfInbox($0) }) else {
      return [
        open.isEmpty
          ? "nothing to go on with: every run is done, or never began its work"
          : "nothing to go on with: a watch goes on with its own runs; "
            + "\(command: .inboxList) names the recordings that wait"
      ]
    }
    let failure = failed.failure.map { ": \($0)" } ?? ""
    return ["nothing to go on with: run \(failed.id) failed, and would fail again\(failure)"]
      + (failed.failureAdvice.map { ["help:  \($0)"] } ?? [])
  }

  /// The named run, or the newest that resuming may bring to its end; one that is still running only
  /// if there is no other. Nil if there is none.
  private func choose(_ store: DiskStore) throws(SpoolError) -> RunRecord? {
    if let name = arguments[Options.run] {
      let run = try run(named: name, in: store)
      if run.state != .done {
        try refuseOutdated(run, in: store)
        return run
      }
      throw .usage(
        "the run \(run.id) is done: there is nothing to go on with",
        advice: "spool runs show \(run.id) says what it gave")
    }
    // A watch resumes its own.
    let open = try store.runs.open().filter { !store.isOfInbox($0) }
    let resumable = open.filter(\.isResumable)
    let next = resumable.firstIndex { obstacle(to: $0, in: store) == nil }
    let skipped = resumable[..<(next ?? 0)]
    if !isQuiet, let obstacle = skipped.first.flatMap({ self.obstacle(to: $0, in: store) }) {
      let others = skipped.count > 1 ? "; \(skipped.count - 1) more cannot go on either" : ""
      console.report("note: \(Format.visible(obstacle.description))\(others)")
    }
    return next.map { resumable[$0] } ?? resumable.first ?? open.first { $0.state == .running }
  }

  /// Why a run cannot be resumed: a plugin or a recording is gone. Nil if both are there.
  private func obstacle(to run: RunRecord, in store: DiskStore) -> SpoolError? {
    PluginUsage(remembering(run).registry(beside: run.pipelinePath))
      .loss(since: run, resumeCommand: "spool resume \(run.id)")
      ?? MissingRecording(of: run, in: store, option: namedStore)?.obstacle
  }

  /// Refuses a run whose exports would take the place of those of a later one.
  private func refuseOutdated(_ run: RunRecord, in store: DiskStore) throws(SpoolError) {
    guard !arguments[Options.replace], let later = try store.runs.successor(of: run) else { return }
    throw SpoolError(
      "the run \(run.id) is out of date",
      reason: "run \(later.id) has done the same recording with the same pipeline later, into the "
        + "same folder and with other settings",
      advice: "spool runs show \(later.id) names its exports; \(option: .replace) puts those of "
        + "run \(run.id) in their place, and spool runs forget \(run.id) gives it up",
      kind: .usage)
  }

  private func goOn(with earlier: RunRecord, _ store: DiskStore) throws(SpoolError) -> ExitCode {
    let memory = PluginUsage(registry(beside: earlier.pipelinePath))
    if let loss = memory.loss(since: earlier, resumeCommand: "spool resume \(earlier.id)") {
      throw loss
    }
    let pipeline: CommandContext.Pipeline
    do throws(SpoolError) { pipeline = try self.pipeline(of: earlier) } catch {
      tellOfBatch(earlier)
      throw error
    }
    let plugins = memory.uses(of: pipeline.definition)
    if let obstacle = MissingRecording(of: earlier, in: store, option: namedStore)?.obstacle {
      throw obstacle
    }
    let plan = try plan(
      pipeline, inputs: earlier.inputs,
      overrides: earlier.overrides.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    ).with(files: store.files(of: earlier)).settled(earlier.request?.album ?? [:])
    let folder = try OutputFolder.check(
      earlier.request?.folder ?? folder(of: earlier))
    try MountPoint.checkDisk(
      ofOutput: folder, in: store, isIgnored: arguments[Options.ignoreMounts])
    tellOfBatch(earlier)
    warnOfChanges(since: earlier, store, memory)
    let request = RunRequest(
      pipelineText: pipeline.text, folder: folder,
      isReplacing: earlier.request?.isReplacing ?? false || arguments[Options.replace],
      keepsEverything: earlier.request?.keepsEverything ?? false,
      names: earlier.request?.names, album: earlier.request?.album,
      pluginFolder: pluginFolder, chapters: earlier.request?.chapters,
      titles: earlier.request?.titles, fileName: earlier.request?.fileName,
      signing: plan.receiptStep == nil ? nil : signing)
    return try start(plan, request, in: store) { id, startedAt in
      RunRecord(
        id: id, pipeline: plan.name, pipelinePath: earlier.pipelinePath, inputs: earlier.inputs,
        overrides: earlier.overrides, startedAt: startedAt, request: request, resumes: earlier.id,
        batch: earlier.batch, plugins: plugins)
    }
  }

  /// The pipeline as recorded; if the record predates that, the pipeline's file.
  private func pipeline(of earlier: RunRecord) throws(SpoolError) -> CommandContext.Pipeline {
    guard let text = earlier.request?.pipelineText else {
      return try pipeline(at: earlier.pipelinePath)
    }
    return try pipeline(text, from: earlier.pipelinePath)
  }

  /// The output folder of a run whose record lacks it: that of its published files, or the default.
  private func folder(of earlier: RunRecord) -> String {
    earlier.published.first.map { FilePath.folder(of: $0.path) } ?? absolute("exports")
  }

  /// Reports that the run is one file of a batch, and the command for the rest.
  private func tellOfBatch(_ earlier: RunRecord) {
    guard let batch = earlier.batch, !isQuiet else { return }
    let file = earlier.inputPaths.joined(separator: ", ")
    console.report(
      Format.visible(
        "note: \(file) is one file of the batch \(batch.batch) of \(batch.folder); running that "
          + "batch again goes on with all of it"))
    console.offer(batch.command.flatMap { NextCommand($0) }.map { [$0] } ?? [])
  }

  /// Warns of changes since the earlier run: a recording with other bytes is processed again, and
  /// an edited pipeline is ignored.
  private func warnOfChanges(since earlier: RunRecord, _ store: DiskStore, _ memory: PluginUsage) {
    var warnings = memory.changes(since: earlier)
    for (name, file) in store.files(of: earlier).sorted(by: { $0.key < $1.key }) {
      // A read error is reported when the run reads the file.
      guard let digest = earlier.recordings?[name],
        let now = try? store.digest(ofFile: file.path), now != digest
      else { continue }
      warnings.append("\(file.name) has changed since run \(earlier.id): what is there now is used")
    }
    if let text = earlier.request?.pipelineText,
      let now = try? TextFile.read("the pipeline", earlier.pipelinePath), now != text
    {
      warnings.append(
        "\(earlier.pipelinePath) has changed since run \(earlier.id), which goes on with the "
          + "pipeline as it was; spool run takes the new one")
    }
    for warning in warnings {
      if isJSON {
        console.print(json: JSONLine("warning", ["message": warning]))
      }
      console.report("warning: \(Format.visible(warning))")
    }
  }
}

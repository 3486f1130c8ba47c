import Audio
import Media
import PipelineEngine
import PipelineModel
import Platform
import SoundEngine
import Stages
import Store

/// What a quick command does to the sound, and how that is written.
struct QuickWork {
  /// The stages before `export`, for recordings with these properties.
  let stages: (QuickRecordings) throws(SpoolError) -> [QuickPipeline.Stage]
  /// Whether the samples stay as they are, so that their depth is kept too.
  var keepsSamples = false
  /// Whether the levels of the finished files are measured.
  var reportsLevels = false
  /// Whether all recordings become one result, which has this name in a folder.
  var mixName: String?
  /// The work with a gain that all recordings share, which an album step of this work finds; nil where
  /// each is by itself.
  var album: ((_ gain: Decibels) -> QuickWork)?

  init(
    keepsSamples: Bool = false, reportsLevels: Bool = false, mixName: String? = nil,
    album: ((_ gain: Decibels) -> QuickWork)? = nil,
    stages: @escaping (QuickRecordings) throws(SpoolError) -> [QuickPipeline.Stage]
  ) {
    self.stages = stages
    self.keepsSamples = keepsSamples
    self.reportsLevels = reportsLevels
    self.mixName = mixName
    self.album = album
  }
}

/// The recordings of one run of a quick command.
struct QuickRecordings {
  /// The recordings as typed.
  let inputs: [String]
  let descriptions: [MediaDescription]
  /// Whether a format to write has no more than two channels, and a recording has.
  let needStereo: Bool
}

/// One run of a quick command, checked: a recording, or several tracks, through one pipeline.
struct QuickJob {
  /// The recordings as typed.
  let inputs: [String]
  let pipeline: CommandContext.Pipeline
  /// The pipeline with the recordings.
  let plan: Plan
  /// The name of the files to write, without an ending.
  let stem: String
  /// The names of the files to write.
  let names: [String]
  /// What is asked for and the files' formats do not have.
  let compromises: [String]
}

/// Running quick commands: `spool normalize`, `convert`, `clean`, `trim` and `mix`.
extension CommandContext {
  /// Runs the work on every recording, or on all of them together.
  /// - Parameter typed: the recordings as typed; nil for the arguments.
  func runQuick(_ work: QuickWork, on typed: [String]? = nil) throws(SpoolError) -> ExitCode {
    let typed = typed ?? arguments[QuickOptions.recordings]
    let groups = work.mixName == nil ? typed.map { [$0] } : [typed]
    let format = try QuickFormat(self)
    if namedStore != nil, !arguments[QuickOptions.keep] {
      throw .usage(
        "--store is for work that is kept", reason: "without --keep nothing is left in a store",
        advice: "add --keep, or leave --store out")
    }
    let isShown = arguments[QuickOptions.show]
    // Nothing is written to where a pipeline is shown.
    guard let out = arguments[QuickOptions.out] ?? (isShown ? "./" : nil) else {
      throw .usage(
        "the output has no name",
        advice: groups.count == 1
          ? "--out FILE, as in --out out.mp3" : "--out FOLDER/, with --format mp3")
    }
    let destination = try QuickDestination(
      out, formats: format.formats, fileCount: groups.count,
      isFolder: (try? FileStamp(following: absolute(out)))?.isFolder == true)
    func jobs(_ work: QuickWork) throws(SpoolError) -> [Result<QuickJob, SpoolError>] {
      var jobs: [Result<QuickJob, SpoolError>] = []
      for group in groups {
        do throws(SpoolError) {
          jobs.append(.success(try job(group, work, format, destination)))
        } catch {
          if error.exitCode == .usage { throw error }
          jobs.append(.failure(error))
        }
      }
      return jobs
    }
    let first = try jobs(work)
    let folder = absolute(destination.path)
    if !isShown || arguments[QuickOptions.out] != nil {
      try refuseCollisions(first, with: typed, in: folder)
    }
    if isShown { return try show(first) }
    return try run(first, groups, destination) { (gain) throws(SpoolError) in
      try work.album.map { (share) throws(SpoolError) in try jobs(share(gain)) } ?? first
    }
  }

  // MARK: Preparing

  private func job(
    _ inputs: [String], _ work: QuickWork, _ format: QuickFormat, _ destination: QuickDestination
  ) throws(SpoolError) -> QuickJob {
    var descriptions: [MediaDescription] = []
    var paths: [String] = []
    for input in inputs {
      let path = absolute(input)
      try requireFile(
        input,
        folderAdvice: "name the files in it, or give the folder to spool batch with a pipeline: "
          + "--show prints one, with one of its files and without --out")
      descriptions.append(try MediaProbe.describe(SourceFile(path)))
      paths.append(path)
    }
    guard let first = paths.first, let description = descriptions.first else {
      throw .usage("there is no recording", advice: "name one")
    }
    var formats = format.formats
    if case .file(_, _, let only) = destination { formats = [only] }
    if formats.isEmpty { formats = [ExportFormat(of: description)] }
    var name = try destination.exportName(of: first)
    if let mixName = work.mixName, name == nil {
      name = if case .file(_, let stem, _) = destination { stem } else { mixName }
    }
    var export = try format.export(
      formats, name: name, depth: work.keepsSamples ? BitDepth(of: description) : nil)
    // A mix has the tags and the cover of the first.
    if work.mixName != nil { export = export.adding("recording", "$first") }
    let recordings = QuickRecordings(
      inputs: inputs, descriptions: descriptions,
      needStereo: formats.contains(.mp3)
        && descriptions.contains { $0.format.channelCount > 2 })
    let text = QuickPipeline(
      name: arguments.command.name,
      inputs: work.mixName == nil ? "recording: sound" : "first: sound, others: sound+",
      stages: try work.stages(recordings) + [export]
        + (work.reportsLevels ? [.measureExports(formats, ceiling: try askedCeiling())] : [])
    ).text
    // Its place in a list of runs is the command's name.
    let pipeline = try pipeline(text, from: "spool \(arguments.command.name)")
    let stem = name ?? ExportName.stem(of: first)
    return QuickJob(
      inputs: inputs, pipeline: pipeline, plan: try quickPlan(pipeline, paths),
      stem: stem, names: formats.map { stem + $0.fileExtension },
      compromises: format.compromises(of: formats)
        + (recordings.needStereo && work.mixName == nil
          ? [Self.folding(description.format.channelCount, into: formats)] : []))
  }

  /// All files of a recording come of one sound.
  private static func folding(_ channelCount: Int, into formats: [ExportFormat]) -> String {
    let others = formats.filter { $0 != .mp3 }.map(\.rawValue).joined(separator: ", ")
    return "mp3 has two channels at most: \(channelCount) are mixed to two"
      + (others.isEmpty ? "" : ", also for \(others); a command without mp3 keeps all")
  }

  /// The plan; errors have no excerpts of a text that the user never wrote.
  private func quickPlan(_ pipeline: Pipeline, _ paths: [String]) throws(SpoolError) -> Plan {
    MediaLibraries.beginOpening()
    do {
      return try Plan(
        pipeline.definition, catalog: pipeline.catalog, inputs: files(paths, of: pipeline),
        checksEquipment: true)
    } catch {
      throw .usage(
        "this cannot be done", reason: error.problems.map(\.message).joined(separator: "; "),
        advice: "choose other values; --show prints the pipeline")
    }
  }

  private func files(_ paths: [String], of pipeline: Pipeline) -> [String: String] {
    var files: [String: String] = [:]
    var paths = paths[...]
    for input in pipeline.definition.inputs {
      for number in 1...(input.isList ? max(1, paths.count) : 1) {
        files[input.isList ? input.place(number) : input.name] = paths.popFirst()
      }
    }
    return files
  }

  /// Refuses outputs that would replace a recording or each other, whatever is allowed.
  private func refuseCollisions(
    _ jobs: [Result<QuickJob, SpoolError>], with typed: [String], in folder: String
  ) throws(SpoolError) {
    var owners: [ExactText: String] = [:]
    let recordings = typed.compactMap { input in
      (try? FileStamp(following: absolute(input))).map { (input, $0) }
    }
    for case .success(let job) in jobs {
      for name in job.names {
        let path = "\(folder)/\(name)"
        if let stamp = try? FileStamp(following: path),
          let recording = recordings.first(where: { $0.1.isSameFile(as: stamp) })
        {
          throw .usage(
            "\(name) would take the place of the recording \(recording.0)",
            reason: "Spool never writes over a recording",
            advice: "choose another name or folder with --out")
        }
        if let owner = owners.updateValue(job.inputs[0], forKey: ExactText(name)) {
          throw .usage(
            "\(owner) and \(job.inputs[0]) would both become \(name)",
            reason: "files are named after their recordings",
            advice: "rename one of them, or give them to spool \(arguments.command.name) one by one"
          )
        }
      }
    }
  }

  private func show(_ jobs: [Result<QuickJob, SpoolError>]) throws(SpoolError) -> ExitCode {
    var texts: [String] = []
    for job in jobs {
      let text = try job.get().pipeline.text
      if !texts.contains(text) { texts.append(text) }
    }
    guard texts.count == 1 else {
      throw .usage(
        "the recordings have different pipelines, and --show prints one",
        reason: "their formats or their lengths differ",
        advice: "add --format, or name one recording")
    }
    answer(JSONLine(["pipeline": texts[0]]), texts[0])
    return .done
  }

  // MARK: Running

  private func run(
    _ jobs: [Result<QuickJob, SpoolError>], _ groups: [[String]], _ destination: QuickDestination,
    sharing: (_ gain: Decibels) throws(SpoolError) -> [Result<QuickJob, SpoolError>]
  ) throws(SpoolError) -> ExitCode {
    let isDry = arguments[QuickOptions.dryRun]
    let folder = try OutputFolder.check(absolute(destination.path))
    let temporary = TemporaryStore()
    defer { temporary.remove() }
    let clock = SystemClock()
    let farewell =
      arguments[QuickOptions.keep]
      ? "stopped: what was noted is kept, and \(resumeLine()) goes on from there"
      : "stopped: the file under way was given up"
    let stop = console.heed(
      SignalWatch.begin(clock, leaving: { temporary.remove() }) { [console] in
        console.lastWord(farewell)
      })
    let runs = QuickRuns(
      context: self, folder: folder, shownFolder: destination.path, temporary: temporary,
      clock: clock, stop: stop, areSeveral: jobs.count > 1)
    var jobs = jobs
    if !isDry {
      do throws(SpoolError) {
        if let gain = try runs.albumGain(of: jobs) { jobs = try sharing(gain) }
      } catch {
        guard error.cause == .cancelled, let signal = stop.signalNumber else { throw error }
        console.report(farewell)
        return .interrupted(by: signal)
      }
    }
    var failureCount = 0
    var doneCount = 0
    for (job, group) in zip(jobs, groups) {
      var report: QuickReport
      do throws(SpoolError) {
        report = try runs.run(try job.get(), isDry: isDry)
        doneCount += 1
      } catch {
        if error.cause == .cancelled, let signal = stop.signalNumber {
          console.report(farewell)
          return .interrupted(by: signal)
        }
        report = QuickReport(inputs: group, outputs: (try? job.get().names) ?? [], error: error)
        failureCount += 1
      }
      tell(report)
      let rest = jobs.count - doneCount - failureCount
      if report.error?.isFullDisk == true, rest > 0 {
        // Every other file would fail alike.
        console.report(
          "stopped: the disk is full; \(rest) \(rest == 1 ? "file was" : "files were") not begun")
        break
      }
    }
    if jobs.count > 1, voice == .full {
      let done =
        "\(doneCount) of \(jobs.count) files \(isDry ? "possible" : "done")"
      console.print(
        done + (isDry ? "" : " in \(Format.duration(clock.elapsed))")
          + (failureCount > 0 ? ", \(failureCount) failed" : ""))
    }
    return failureCount == 0 ? .done : doneCount == 0 ? .failed : .someFailed
  }

  /// The command that resumes a run in the store.
  func resumeLine(_ run: RunID? = nil) -> String {
    ShellWords.line(
      ["spool", "resume"] + (run.map { [$0.description] } ?? [])
        + (namedStore.map { ["--store", $0] } ?? []))
  }

  private func tell(_ report: QuickReport) {
    if isJSON { console.print(json: report.json) }
    if let error = report.error { return console.report(error.text(console)) }
    if voice == .full { console.print(report.line) }
  }
}

import Audio
import Glibc
import Media
import PipelineEngine
import PipelineModel
import Platform
import SoundEngine
import Stages
import Store

/// A sound that can be played, and what the user calls it.
struct NamedSound {
  let sound: PlayableSound
  let name: String
  /// Nil for the sound of a run.
  var path: String?
  /// Nil for a file.
  var run: String?
  /// Nil for a file.
  var stage: String?
  /// What decoding tells of a file, whenever it comes to the end: what the recording has lost.
  var warnings = Mailbox<String>()
}

/// Finds the sounds that a user names: files, and sounds of runs.
struct NamedSoundFinder {
  let context: CommandContext
  let stop: StopRequest

  /// What a word means.
  enum Reference {
    case file(String)
    /// The sound after a stage; nil for the run's final sound.
    case run(RunRecord, stage: String?)
    /// The last run of a recording whose file is not named, or else its original.
    case recording(KnownRecording)

    /// The run that is meant, or the last one of the recording.
    var run: RunRecord? {
      switch self {
      case .file: nil
      case .run(let run, _): run
      case .recording(let recording): recording.lastRun
      }
    }
  }

  /// The words for a run's first and final sound, unless stages of these names give sound.
  private static let (before, after) = ("before", "after")

  /// A file that is there comes before a run.
  func reference(_ word: String, stage: String? = nil) throws(SpoolError) -> Reference {
    let isPath = word.contains("/") || (word.contains(".") && !word.contains(":"))
    if FilePath.exists(word) || isPath && !DiskStore.isThere(at: context.storePath) {
      return try file(word, stage)
    }
    let parts = isPath ? [word] : word.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count < 2 || stage == nil else {
      throw .usage("the stage is given twice: \(parts[1]) and \(stage ?? "")")
    }
    let (name, stage) = (parts.first ?? word, parts.count > 1 ? parts[1] : stage)
    let store = try context.existingStore()
    switch try context.subject(named: name, in: store) {
    case .run(let run): return .run(run, stage: stage)
    case .recording(let recording):
      if stage == nil, recording.isWhole { return .recording(recording) }
      return .run(try recording.requireRun(), stage: stage)
    case nil: return isPath ? try file(word, stage) : try context.refuse(name, in: store)
    }
  }

  private func file(_ path: String, _ stage: String?) throws(SpoolError) -> Reference {
    guard let stage else { return .file(path) }
    throw .usage(
      "\(path) is a file, and has no stage \(stage)",
      advice: "name a run: spool runs lists them")
  }

  /// A stage of the same run comes before files and runs.
  func reference(_ word: String, comparedWith first: Reference) throws(SpoolError) -> Reference {
    if let run = first.run,
      [Self.before, Self.after].contains(word) || run.steps.contains(where: { $0.id.name == word })
    {
      return .run(run, stage: word)
    }
    return try reference(word)
  }

  func sound(_ reference: Reference) throws(SpoolError) -> NamedSound {
    switch reference {
    case .file(let path):
      try context.requireFile(path)
      let warnings = Mailbox<String>()
      return NamedSound(
        sound: try PlayableSound(file: path) { warnings.send($0) },
        name: path.pathNames.last ?? path, path: context.absolute(path), warnings: warnings)
    case .recording(let recording):
      guard let original = recording.original, recording.lastRun == nil else {
        return try sound(.run(try recording.requireRun(), stage: nil))
      }
      let path = try context.existingStore().path(of: original.content)
      let warnings = Mailbox<String>()
      return NamedSound(
        sound: try PlayableSound(file: path) { warnings.send($0) }, name: original.fileName,
        warnings: warnings)
    case .run(let run, let stage):
      let store = try context.existingStore()
      let step = try step(stage, of: run, in: store)
      let kept = try keptSound(of: step, in: store)
      let pcm: PCMArtifact
      if let kept { pcm = kept } else { pcm = try computedSound(of: step, run) }
      return NamedSound(
        sound: PlayableSound(kept: pcm), name: "\(step.id) of \(run.pipeline), run \(run.id)",
        run: run.id.name, stage: step.id.name)
    }
  }

  /// The step whose sound is meant.
  private func step(
    _ name: String?, of run: RunRecord, in store: DiskStore
  ) throws(SpoolError) -> StepRecord {
    let sounding = run.steps.filter { $0.hasSound && $0.isDone }
    if let name, let step = run.steps.first(where: { $0.id.name == name }),
      step.hasSound || ![Self.before, Self.after].contains(name)
    {
      guard !sounding.contains(where: { $0.id == step.id }) else { return step }
      throw SpoolError(
        "there is no sound after \(name) in run \(run.id)",
        reason: step.isDone
          ? "\(step.kind) gives no sound" : "the run did not do it: it is \(step.outcome.rawValue)",
        advice: sounding.isEmpty
          ? run.wayOn.map { "\($0) goes on with the run" }
            ?? "spool runs show \(run.id) says what became of it"
          : "there is sound after \(sounding.map(\.id.name).joined(separator: ", "))")
    }
    switch name {
    case nil, Self.after?: if let step = try final(of: run, sounding, store) { return step }
    case Self.before?: if let step = sounding.first { return step }
    case let name?:
      let names = run.steps.map(\.id.name)
      let guess = Problem.nearest(to: name, in: names).map { "; did you mean \($0)?" } ?? ""
      throw .usage(
        "the run \(run.id) has no stage \"\(name)\"\(guess)",
        advice: "it has \(names.joined(separator: ", "))")
    }
    throw SpoolError(
      "there is no sound in run \(run.id)", reason: "none of its stages has made any",
      advice: "spool runs show \(run.id) says how far it got")
  }

  /// The step whose sound the last export has taken; without one, the last step with sound.
  private func final(
    of run: RunRecord, _ sounding: [StepRecord], _ store: DiskStore
  ) throws(SpoolError) -> StepRecord? {
    for export in run.steps.reversed() where export.kind == "export" {
      guard let key = export.key, let checkpoint = try store.checkpoint(for: key) else { continue }
      let inputs = Set(checkpoint.components.inputs.values)
      let source = sounding.last { step in
        step.outputs.values.contains { $0.kind == .sound && inputs.contains($0.identity) }
      }
      if let source { return source }
    }
    return sounding.last
  }

  /// Nil if the store does not have it.
  private func keptSound(
    of step: StepRecord, in store: DiskStore
  ) throws(SpoolError) -> PCMArtifact? {
    guard let key = step.key, let checkpoint = try store.checkpoint(for: key),
      let artifact = checkpoint.sound, store.file(of: artifact.digest) != nil
    else { return nil }
    return try PCMArtifact(artifact, in: store)
  }

  /// Computes the sound after a step again, and keeps it in the store. It is no run of its own in the
  /// history.
  private func computedSound(
    of step: StepRecord, _ run: RunRecord
  ) throws(SpoolError) -> PCMArtifact {
    let context = context.remembering(run)
    let store = try context.openStore()
    guard let text = run.request?.pipelineText else {
      throw SpoolError(
        "the sound after \(step.id) was not kept",
        reason: "run \(run.id) does not hold its pipeline",
        advice: "run the pipeline again with --checkpoint every")
    }
    let pipeline = try context.pipeline(text, from: run.pipelinePath)
    let whole = try context.plan(
      pipeline, inputs: run.inputs,
      overrides: run.overrides.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    ).with(files: store.keptFiles(of: run)).settled(run.request?.album ?? [:])
    guard let plan = whole.leading(to: step.id) else {
      throw SpoolError("the pipeline of run \(run.id) has no stage \(step.id)")
    }
    try checkRecordings(of: plan, run, step, in: store)
    if !context.isQuiet {
      context.console.report(
        "note: the sound after \(step.id) was not kept: it is computed again, and kept now")
    }
    let clock = SystemClock()
    let runner = Runner(
      store: store, log: Unrecorded(), executors: [SoundPassExecutor(coreCount: CoreCount.online)],
      recorder: SilentRecorder(context.console), stop: stop, clock: clock)
    var options = Runner.Options(folder: store.path)
    options.neededStep = step.id
    let made: RunRecord
    do throws(RunError) {
      made = try runner.run(
        plan, options,
        record: RunRecord(
          id: clock.makeRunID(), pipeline: run.pipeline, pipelinePath: run.pipelinePath,
          inputs: plan.inputs, overrides: run.overrides, startedAt: clock.now))
    } catch { throw SpoolError(error) }
    guard let again = made.steps.first(where: { $0.id == step.id }),
      let sound = try keptSound(of: again, in: store)
    else { throw SpoolError("the sound after \(step.id) could not be kept") }
    if again.key != step.key {
      context.console.report(
        "warning: a library or a plugin is not as it was in run \(run.id): the sound may differ")
    }
    return sound
  }

  /// Requires the recordings to be those of the run.
  private func checkRecordings(
    of plan: Plan, _ run: RunRecord, _ step: StepRecord, in store: DiskStore
  ) throws(SpoolError) {
    let kept = run.steps.filter { (try? keptSound(of: $0, in: store)) != nil }.map(\.id.name)
    for (name, file) in plan.files.sorted(by: { $0.key < $1.key }) {
      let others =
        kept.isEmpty ? "" : "; the store has the sound after \(kept.joined(separator: ", "))"
      if let obstacle = FilePath.obstacle(to: file.path, R_OK) {
        throw SpoolError(
          "the sound after \(step.id) was not kept, and cannot be computed without \(file.name)",
          reason: obstacle.words, advice: "put the recording back there\(others)",
          cause: .environment)
      }
      guard let digest = run.recordings?[name], try store.digest(ofFile: file.path) != digest else {
        continue
      }
      throw SpoolError(
        "the sound after \(step.id) was not kept, and \(file.name) is not the recording of run "
          + "\(run.id) any more",
        reason: "it has changed since",
        advice: "put the recording back, or run the pipeline on what is there now\(others)")
    }
  }
}

/// What a name means that `spool runs` or `spool inbox` prints.
enum NamedSubject {
  case run(RunRecord)
  case recording(KnownRecording)
}

/// A recording that the store knows, wherever its file is.
struct KnownRecording {
  let digest: Digest
  /// Where it arrived, or where a run read it.
  let path: String
  /// Nil for one that no inbox took in.
  let original: Recording?
  let lastRun: RunRecord?

  /// Whether something can be said of it: one that an inbox took in may wait for its first run.
  var isWhole: Bool { lastRun != nil || original?.state == .uploaded }

  func requireRun() throws(SpoolError) -> RunRecord {
    if let lastRun { return lastRun }
    let name = original.map { "\($0.key)" } ?? path
    throw .usage(
      "the recording \(name) has no run yet", reason: original.map { "it is \($0.status)" },
      advice: original.map { "spool inbox show \($0.key) says more of it" })
  }
}

/// Finding runs and recordings by name.
extension CommandContext {
  /// What a name means that is printed: a run's, or its beginning, or last; a recording's ID, its
  /// device's noteId, or its file's name or path. Nil if it is none.
  func subject(named name: String, in store: DiskStore) throws(SpoolError) -> NamedSubject? {
    if let run = try knownRun(named: name, in: store) { return .run(run) }
    if let recording = try knownRecording(named: name, in: store) {
      let digest = recording.content.digest
      let path = try store.recordings.arrivalPaths(of: [recording])[recording.key]?.first
      return .recording(
        KnownRecording(
          digest: digest, path: recording.inbox + "/" + recording.shownPath(path),
          original: recording,
          lastRun: try store.runs.lastRun(of: digest, pipeline: recording.pipeline)))
    }
    let path = absolute(name)
    var run: RunRecord?
    if FilePath.exists(name) {
      let digest = try store.digest(ofFile: path)
      run = try store.runs.mentioning([digest]).first {
        $0.state != .refused && $0.recordings?.values.contains(digest) == true
      }
    } else if try
      !(name.contains("/")
      ? store.runs.taking(path) : store.runs.taking(fileNamed: name)).isEmpty
    {
      // Throws where several recordings have the name.
      run = try deliveredSubject(named: name, in: store).run
    }
    guard let run else { return nil }
    let input = run.orderedInputs.first { $0.path == path || $0.path.pathNames.last == name }
    guard let input, let digest = run.recordings?[input.name] else { return .run(run) }
    return .recording(
      KnownRecording(digest: digest, path: input.path, original: nil, lastRun: run))
  }

  /// The run that a name means, of a recording its last one.
  func lastRun(named name: String, in store: DiskStore) throws(SpoolError) -> RunRecord {
    switch try subject(named: name, in: store) {
    case .run(let run): run
    case .recording(let recording): try recording.requireRun()
    case nil: try refuse(name, in: store)
    }
  }

  /// Refuses a name that nothing has.
  func refuse<Result>(_ name: String, in store: DiskStore) throws(SpoolError) -> Result {
    if name == "last" { _ = try run(named: name, in: store) }
    throw .usage(
      "there is no run and no recording \"\(name)\"",
      advice: "spool runs and spool inbox list them")
  }
}

extension PlayableSound {
  /// A file in any format that can be decoded. What is damaged can be listened to all the same.
  /// - Parameter warn: takes what decoding tells of the file when it comes to the end.
  fileprivate init(
    file path: String, _ warn: @escaping @Sendable (String) -> Void
  ) throws(SpoolError) {
    @Sendable func source() throws(SpoolError) -> RecordedSound {
      try RecordedSound(SourceFile(path), DecoderOptions(keepsDamaged: true))
    }
    @Sendable func open(_ frame: Frames) throws(SpoolError) -> (start: Frames, read: Reader) {
      let source = try source()
      func read(_ buffer: inout AudioBuffer) throws(SpoolError) -> Bool {
        let isMore = try source.read(into: &buffer)
        if !isMore { source.warnings.forEach(warn) }
        return isMore
      }
      return (.zero, read)
    }
    let outline = try source().outline
    self.init(outline.format, length: outline.frames, isSeekable: false, open: open)
  }

  /// Sound that the store has kept.
  fileprivate init(kept pcm: PCMArtifact) {
    @Sendable func open(_ frame: Frames) throws(SpoolError) -> (start: Frames, read: Reader) {
      let source = try pcm.open(at: frame)
      func read(_ buffer: inout AudioBuffer) throws(SpoolError) -> Bool {
        try source.read(into: &buffer)
      }
      return (frame, read)
    }
    self.init(pcm.outline.format, length: pcm.outline.frames, isSeekable: true, open: open)
  }
}

extension StepRecord {
  fileprivate var hasSound: Bool { outputs.values.contains { $0.kind == .sound } }
  fileprivate var isDone: Bool { outcome == .made || outcome == .reused }
}

extension Checkpoint {
  /// The kept sound; nil if there is none.
  fileprivate var sound: Artifact? {
    outputs.sorted { $0.key < $1.key }.lazy.compactMap {
      $0.value.kind == .sound ? $0.value.artifact : nil
    }
    .first
  }
}

/// Keeps no record of a run.
private struct Unrecorded: RunLog {
  func save(_ run: RunRecord) {}
  func newest(limit: Int) -> [RunRecord] { [] }
  func run(named prefix: String) -> RunRecord? { nil }
}

import Intake
import PipelineEngine
import PipelineModel
import Platform
import Search
import Store
import Transcripts

/// What a failed run advises its user to type.
extension SpoolError {
  /// The error of a resumed run. `spool resume` takes no options of the output folder: where one is
  /// advised, `spool run` with the run's own arguments takes it.
  func resumed(_ run: RunRecord, _ options: [String]) -> SpoolError {
    let removal = "move what is in the way elsewhere and go on"
    guard let way = run.advice(to: removal, behind: advice, options) else { return self }
    let words = ["spool", "runs", "forget", "\(run.resumes ?? run.id)"] + options
    return advising("\(way); or give this run up: \(ShellWords.line(words))")
  }

  /// The error of a run with the very line that mends it, where a variable of the pipeline sets the
  /// wrong parameter.
  func remedied(
    by failure: RunError, of run: RunRecord, _ options: [String]
  ) -> SpoolError {
    let faults = failure.error.faults.filter { $0.remedy != nil }
    guard let fault = faults.first, let remedy = fault.remedy, let step = failure.step,
      let text = run.request?.pipelineText, let definition = ParsedPipeline(text).definition,
      let name = definition.variable(setting: fault.path, of: step.name, failure.kind)
    else { return self }
    let line = run.line(setting: [name: remedy], adding: options)
    return advising("\(fault.message); this line says so: \(line)")
  }

  private func advising(_ advice: String) -> SpoolError {
    var error = SpoolError(message, reason: reason, advice: advice, cause: cause, kind: kind)
    error.others = others
    return error
  }
}

extension RunRecord {
  /// What can be done where a file is in the way of an export: `spool resume` cannot overwrite it. Nil if
  /// the run's own advice is about something else.
  /// - Parameter removal: what can be done besides overwriting it.
  func advice(to removal: String, behind advice: String?, _ options: [String]) -> String? {
    guard let advice, advice.contains("\(option: .replace)") else { return nil }
    // The pipeline of a quick command is no file.
    guard pipelinePath.hasPrefix("/") else { return removal }
    // A batch names its files' exports itself, so that no two have one name.
    if batch != nil {
      let line = ShellWords.line(
        ["spool", "resume", id.description] + options + ["\(option: .replace)"])
      return "\(removal); or overwrite it: \(line)"
    }
    return "\(removal); or overwrite it: \(line(adding: options + ["\(option: .replace)"]))"
  }
}

extension RecordingWords {
  /// How the captions that were written of these words get a correction, for people: a command for each
  /// run, the newest first, and of a run whose exports a later one has replaced, for each file. Empty
  /// where none are left, or no command does it again.
  /// - Parameter option: the value of `--store`.
  func captionLines(in store: DiskStore, option: String?) throws(SpoolError) -> [String] {
    let files = told.inputs.compactMap { run.recordings?[$0] }
    var commands: [String] = []
    var claimed: Set<String> = []
    let runs = files.isEmpty ? [run] : try store.runs.mentioning(files)
    for other in runs where other.state == .done {
      defer { claimed.formUnion(other.published.map(\.path)) }
      let words = other.id == run.id ? [told] : try other.transcripts(in: store)
      guard words.contains(where: { $0.recording.map(recordings.contains) == true }) else {
        continue
      }
      let found = try other.captionCommands(in: store, option: option, besides: claimed)
      for command in found where !commands.contains(command) {
        commands.append(command)
      }
    }
    let said = "captions that were written before"
    guard let first = commands.first else {
      guard let signed = runs.first(where: { $0.state == .done && $0.hasSignedCaptions }),
        let recording = try store.inboxRecording(of: signed)
      else { return [] }
      let offered = StoreOption(option)
      return [
        "\(said) stay as they are, for a receipt covers them; to have them written again: "
          + recording.wayOfRepeating(offered)
      ]
    }
    return commands.count == 1
      ? ["\(said) are written again by this line:  \(first)"]
      : ["\(said) are written again by these lines:"] + commands.map { "  \($0)" }
  }
}

extension RunRecord {
  /// Whether captions lie there that a receipt covers.
  fileprivate var hasSignedCaptions: Bool {
    published.contains { $0.leaf != nil } && !captions(besides: []).isEmpty
  }

  /// The captions that lie there.
  /// - Parameter claimed: the paths of what later runs have exported.
  private func captions(besides claimed: Set<String>) -> [PublishedFile] {
    published.filter { file in
      !claimed.contains(file.path)
        && steps.contains { $0.id == file.step && $0.kind == "transcript" }
        && TranscriptFormat.all.contains { file.path.hasSuffix($0.fileEnding) }
        && FilePath.exists(file.path)
    }
  }

  /// The commands that write the run's captions again; none if there are none.
  /// - Parameter claimed: the paths of what later runs have exported.
  fileprivate func captionCommands(
    in store: DiskStore, option: String?, besides claimed: Set<String>
  ) throws(SpoolError) -> [String] {
    let captions = captions(besides: claimed)
    if captions.isEmpty { return [] }
    let files = [pipelinePath] + inputPaths
    let isThere = pipelinePath.hasPrefix("/") && files.allSatisfy { FilePath.exists($0) }
    let own = isThere ? line(adding: option.map { ["\(option: .store)", $0] } ?? []) : nil
    let offered = StoreOption(option)
    if published.allSatisfy({ !claimed.contains($0.path) }) {
      if let line = batch.map(\.command) ?? own { return [line] }
      let line = try store.inboxRecording(of: self).flatMap { store.repetition(of: self, $0) }
      if let line { return [offered.completing(line)] }
    }
    // A receipt signs its captions.
    if published.contains(where: { $0.leaf != nil }) { return [] }
    // An edited file is its editor's.
    return captions.filter { store.byteCount(ofPublished: $0.path) != nil }.map { file in
      offered.completing(
        ShellWords.line(["spool", "words", "export", id.description, "-o", file.path]))
    }
  }
}

extension LostWords {
  /// How the words are found again.
  private enum Way {
    /// The same run.
    case run(RunRecord)
    /// Another attempt at an inbox's recording.
    case retry(Recording)
    /// A run of an inbox's recording, which has to be given back for it.
    case original(Recording)
    /// A run of an inbox's recording where it lies.
    case line(String)
    /// Its watch, which has to get an inbox's recording again.
    case watch(Recording)
    /// Not, for this reason.
    case none(String)

    func command(_ option: String?) -> String? {
      let offered = StoreOption(option)
      return switch self {
      // A batch names the exports of its files.
      case .run(let run):
        run.batch?.command ?? run.line(adding: option.map { ["\(option: .store)", $0] } ?? [])
      case .retry(let recording): offered.completing("\(command: .inboxRetry) \(recording.key)")
      case .original(let recording):
        offered.completing("\(command: .inboxExport) \(recording.key)")
      case .line(let line): offered.completing(line)
      case .watch(let recording): offered.completing(recording.exportCommand)
      case .none: nil
      }
    }
  }

  private func way(in store: DiskStore) -> Way {
    guard let run = try? store.runs.run(named: run) else { return .none("its run is not known") }
    if store.isOfInbox(run) {
      guard let recording = try? store.inboxRecording(of: run) else {
        return .none("its recording was removed from the store")
      }
      guard store.hasIntactOriginal(of: recording) else {
        if let line = store.repetition(of: run, recording) { return .line(line) }
        let files = (try? store.recordings.files(of: recording.key)) ?? []
        return files.contains { $0.isThere(recording.content) }
          ? .watch(recording) : .none("the store has no sound original of it")
      }
      return recording.state == .failed ? .retry(recording) : .original(recording)
    }
    let files = [run.pipelinePath] + run.inputPaths
    guard run.pipelinePath.hasPrefix("/"), files.allSatisfy({ FilePath.exists($0) }) else {
      return .none("a run of the same recording finds them again")
    }
    let replaced = run.orderedInputs.first { input in
      guard let own = run.recordings?[input.name] else { return false }
      return (try? store.holdsOther(input.path, than: own)) == true
    }
    if let path = replaced?.path {
      return .none(
        "\(path) is another recording by now, and a run of the one before finds them again")
    }
    return .run(run)
  }

  /// What is lost, and the command that finds it again.
  func lines(in store: DiskStore, option: String?) -> [String] {
    let known = (try? store.runs.run(named: run)).flatMap { try? store.inboxRecording(of: $0) }
    let name = known.map { "\($0.fileName) (\($0.key))" } ?? store.shownName(of: recording)
    let way = way(in: store)
    let hope =
      switch way {
      case .run(let run) where run.batch != nil: "the same batch finds them again"
      case .run, .line: "a run of the same finds them again"
      case .retry: "another attempt finds them again"
      case .original(let recording):
        "a run of \(recording.pipeline) on its original finds them again"
      case .watch(let recording):
        "to find them again: \(recording.wayOfRepeating(StoreOption(option)))"
      case .none(let reason): reason + (givingUp(in: store, option).map { "; \($0)" } ?? "")
      }
    let next = way.command(option).flatMap { NextCommand($0) }
    return ["the words of \(name), from run \(run), are lost; \(hope)"]
      + (next.map { [$0.text] } ?? [])
  }

  /// How the store stops asking for them; nil where their run is not known.
  private func givingUp(in store: DiskStore, _ option: String?) -> String? {
    guard let run = try? store.runs.run(named: run), run.id.name == self.run else { return nil }
    let command = StoreOption(option).completing("\(command: .wordsForget) \(run.id)")
    return "\(command) gives them up"
  }

  /// Nil if no command finds them again.
  func command(in store: DiskStore, option: String?) -> String? {
    way(in: store).command(option)
  }
}

extension PipelineDefinition {
  /// The variable that sets a parameter of a step; nil if none does.
  /// - Parameter kind: the step's, which is its name unless the pipeline gives one.
  fileprivate func variable(setting path: [String], of step: String, _ kind: String?) -> String? {
    let steps = steps.filter { $0.id?.value == step || $0.id == nil && $0.kind.value == kind }
    guard steps.count == 1, case .mapping(let entries)? = steps.first?.parameters.content,
      path.count == 1, let entry = entries.first(where: { $0.key == path.first }),
      case .scalar(let text, isQuoted: false) = entry.value.content, text.hasPrefix("$")
    else { return nil }
    return String(text.dropFirst())
  }
}

extension DiskStore {
  /// Whether a file is there that has another sound than a recording. Those of an inbox are in the store.
  func holdsOther(_ path: String, than recording: Digest) throws(SpoolError) -> Bool {
    guard !path.hasPrefix(self.path + "/"), FilePath.exists(path),
      let digest = try? digest(ofFile: path), digest != recording
    else { return false }
    return try !recordings(likeThat: recording).contains(digest)
  }
}

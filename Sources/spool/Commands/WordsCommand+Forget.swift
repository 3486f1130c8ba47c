import Glibc
import Intake
import PipelineEngine
import PipelineModel
import Platform
import Search
import Store

/// `spool words forget`.
extension CommandContext {
  /// Removes the words of a recording from the store and from its index.
  /// - Parameter isAgreed: whether the user has agreed already.
  func forgetWords(
    named name: String, stage: String?, isAgreed: Bool
  ) throws(SpoolError) -> ExitCode {
    try requireStore()
    return try freeing { (store) throws(SpoolError) in
      let finder = NamedSoundFinder(context: self, stop: StopRequest())
      let recording = try recording(finder.reference(name, stage: stage), in: store)
      let words = try store.keptWords(
        of: recording.parts, correctedUnder: recording.recordings)
      if words.isEmpty {
        try WordSearch(store).forget(recordings: words.recordings, artifacts: [])
        answer(
          line(of: words, of: recording),
          Format.visible("nothing to forget: there are no words of \(recording.name)"))
        return .done
      }
      let runs = try runs(of: recording, in: store)
      if let run = runs.first(where: { $0.state == .running }) {
        throw SpoolError(
          "cannot forget the words of \(recording.name)",
          reason: "run \(run.id) of it is under way",
          advice: "stop it, or wait until it has ended", cause: .blocked)
      }
      try requireNoneQueued(words, of: recording, in: store)
      guard isAgreed ? true : try agrees(to: words, of: recording) else {
        console.report("nothing was forgotten")
        return .failed
      }
      // The index first: it can be made again from what is still there, and has nothing that is gone.
      try WordSearch(store).forget(
        recordings: words.recordings, artifacts: words.artifacts.map(\.digest))
      try store.forget(words)
      answer(
        line(of: words, of: recording),
        Format.visible("forgot the words of \(recording.name): \(Self.contents(of: words))"))
      if !isJSON {
        console.report(
          "note: the recording, its exports and backups of the store stay; a later run finds words "
            + "again")
      }
      let unfinished = runs.filter { $0.wayOn != nil && mayMakeWords($0) }
      for run in unfinished {
        console.report(
          "note: run \(run.id) is not finished, and makes words again if it is resumed")
      }
      console.offer(
        unfinished.compactMap {
          NextCommand(
            StoreOption(namedStore).completing("\(command: .forgetRuns) \($0.id)"))
        })
      return .done
    }
  }

  /// Refuses to forget words that are still to be delivered, and that only the store has.
  private func requireNoneQueued(
    _ words: KeptWords, of recording: NamedRecording, in store: DiskStore
  ) throws(SpoolError) {
    let digests = Set(words.artifacts.map(\.digest))
    let query = DeliveryQueue.Query(states: [.waiting, .uploading, .failed])
    let waiting = try store.deliveries.matching(query).filter { delivery in
      digests.contains(delivery.file.digest)
        && !(delivery.file.path.map { FilePath.exists($0) } ?? false)
    }
    guard let first = waiting.first else { return }
    throw SpoolError(
      "cannot forget the words of \(recording.name)",
      reason: "\(Count.of(waiting.count, "file")) with them "
        + "\(waiting.count == 1 ? "waits" : "wait") for \(first.destination)",
      advice: "\(deliveryCommand(["run", "--once"])) sends what waits; then forget them",
      cause: .blocked)
  }

  /// Whether resuming a run gives words, as far as its pipeline can still be read.
  private func mayMakeWords(_ run: RunRecord) -> Bool {
    let context = remembering(run)
    let overrides = run.overrides.map { "\($0.key)=\($0.value)" }
    guard let text = run.request?.pipelineText,
      let pipeline = try? context.pipeline(text, from: run.pipelinePath),
      let plan = try? context.plan(
        pipeline, inputs: run.inputs, overrides: overrides, checksEquipment: false)
    else { return true }
    return plan.steps.contains { $0.descriptor.outputs.contains { $0.kind == .transcript } }
  }

  /// The runs of a recording: those of a whole have read all its parts.
  private func runs(
    of recording: NamedRecording, in store: DiskStore
  ) throws(SpoolError) -> [RunRecord] {
    let runs = try store.runs.mentioning(recording.parts.flatMap(\.self))
    if recording.parts.count < 2 { return runs }
    return runs.filter { run in
      let read = run.recordings.map { Set($0.values) } ?? []
      return recording.parts.allSatisfy { !read.isDisjoint(with: $0) }
    }
  }

  /// Refuses a path without a file: its words may be there all the same.
  func requireRecording(_ path: String) throws(SpoolError) {
    guard !FilePath.exists(path) else { return try requireFile(path) }
    throw .usage(
      "there is no recording \(path)", reason: FilePath.obstacle(to: path)?.words,
      advice: "name the recording's file, or a run of it, which spool runs list names")
  }

  /// The recording of a file, of a run whatever its words, or of a name.
  func recording(
    _ reference: NamedSoundFinder.Reference, in store: DiskStore
  ) throws(SpoolError) -> NamedRecording {
    switch reference {
    case .file(let path):
      try requireRecording(path)
      return try NamedRecording(file: path, in: store)
    case .recording(let known):
      var recording = try NamedRecording(known.digest, at: known.path, in: store)
      recording.wayToWords = try known.original.map { (original) throws(SpoolError) in
        try way(ofRunning: ["spool", "run", "words"], on: original, in: store)
      }
      return recording
    case .run(let run, nil): return try NamedRecording(wordlessRun: run, in: store)
    case .run(let run, let stage?):
      throw .usage(
        "the words of one stage cannot be forgotten",
        reason: "those of \(stage) are the recording's",
        advice: "spool words forget \(run.id) forgets all words of its recording")
    }
  }

  private func line(of words: KeptWords, of recording: NamedRecording) -> JSONLine {
    JSONLine([
      "recording": recording.path, "transcripts": words.transcripts,
      "files": words.artifacts.count - words.transcripts, "corrections": words.corrections,
      "freedBytes": words.byteCount,
    ])
  }

  /// `2 transcripts and 3 files made of them (41 kB), 1 correction`.
  private static func contents(of words: KeptWords) -> String {
    let files = words.artifacts.count - words.transcripts
    return Count.of(words.transcripts, "transcript")
      + (files == 0 ? "" : " and \(Count.of(files, "file")) made of them")
      + " (\(ByteCount(words.byteCount)))"
      + (words.corrections == 0 ? "" : ", \(Count.of(words.corrections, "correction"))")
  }

  /// Asks on the terminal. Throws where there is none.
  private func agrees(
    to words: KeptWords, of recording: NamedRecording
  ) throws(SpoolError) -> Bool {
    guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
      throw .usage(
        "forgetting the words of \(recording.name) needs --yes",
        reason: "it cannot be undone, and there is no terminal to ask on",
        advice: "add --yes: \(Self.contents(of: words)) would go")
    }
    console.report(
      Format.visible(lines: [
        "This removes all words of \(recording.name) from the store and from spool search:",
        "\(Self.contents(of: words)). It cannot be undone.",
        "The recording, its exports and backups of the store stay.",
      ]))
    console.ask("Forget them? Type yes: ")
    return readLine(strippingNewline: true).map { ["y", "yes"].contains($0.lowercased()) } ?? false
  }
}

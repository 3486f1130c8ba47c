import PipelineEngine
import PipelineModel
import Platform
import Search
import Store
import Transcripts

/// The words of a recording as they count now: those that a run has found, with all corrections. A run
/// that has cut or stretched the sound shows them where they are in its result.
///
/// Corrections belong to the sound, in whatever file it is, and lie over the words as they were heard:
/// they are there before and behind a cut.
struct RecordingWords {
  /// The digests of the files of its sound, that of these words first; of several recordings, those of
  /// the whole that they make.
  let recordings: [Digest]
  /// The recording's files: where they are now, or where they were when they were run.
  let paths: [String]
  let run: RunRecord
  let told: RunRecord.ToldTranscript
  /// Oldest first.
  let corrections: [Correction]
  /// The words as they were heard.
  private let heard: CorrectedTranscript
  /// The same without corrections.
  private let recognised: Transcript
  /// How the words that are shown are moved; nil if they are not.
  private var change: TimelineMap?
  private let removed: TimelineMap.RemovedWords
  /// The time in the recording of a time of the heard words.
  private let origin: (Double) -> Double

  var transcript: Transcript { moved(heard.transcript) }

  /// Whether a correction has changed the words that are shown.
  var isCorrected: Bool {
    heard.transcript != recognised && transcript != moved(recognised)
  }

  private func moved(_ words: Transcript) -> Transcript {
    change.map { $0.move(words, removed: removed) } ?? words
  }

  var path: String { paths.joined(separator: " + ") }
  var name: String { paths.recordingName }

  /// The same words, moved in another way, or as they were heard.
  func moved(by change: TimelineMap?) -> RecordingWords {
    var words = self
    words.change = change
    return words
  }

  /// What makes an edited text of the words that are shown. It changes nothing that was cut out.
  func changes(to edited: Transcript) -> [WordChange] {
    let shown = removed == .kept ? nil : change?.wordsLeft(of: heard.transcript)
    let edited = edited.inOrder(of: transcript)
    return Correction.changes(
      from: heard.transcript, shown: shown, to: edited.words.map(\.text), starts: edited.turnStarts,
      origin: origin)
  }

  /// What of an edited text is not taken in besides its words, a line each.
  func ignoredLines(of edited: Transcript) -> [String] {
    let ignored = Correction.ignored(in: edited, over: transcript)
    let text = run.orderedInputs.first { input in
      told.isAligned && run.soundInputs?.contains(input.name) == false
    }?.path
    let place =
      text.map { "change them in \($0), and run the pipeline again" }
      ?? "run the pipeline with a text that has them"
    return [
      ignored.speakers
        ? "the text names other speakers, and only its words are taken in: \(place)" : nil,
      ignored.times
        ? "the text has other times, and only its words are taken in: times are those at which words "
          + "are heard; captions that you edit in the output folder stay as they are" : nil,
    ].compactMap(\.self)
  }

  /// What the last transcript does not have the places of, a line each.
  var missedLines: [String] {
    heard.missed.map { number, change, now in
      func quoted(_ words: [String]) -> String { "“\(words.joined(separator: " "))”" }
      let place = change.start.map { " at \(SearchText.time($0))" } ?? ""
      let why = now.isEmpty ? "its place is not found" : "the text says \(quoted(now)) there now"
      return "a correction is not applied, as \(why): \(quoted(change.removed)) → "
        + "\(quoted(change.inserted))\(place), by \(corrections[number].author), "
        + corrections[number].time
    }
  }

  /// - Parameter isMoved: whether the words are shown where the run has moved them.
  init(
    _ told: RunRecord.ToldTranscript, of run: RunRecord, recordings: [Digest], paths: [String],
    isMoved: Bool, in store: DiskStore
  ) throws(SpoolError) {
    func transcript(_ artifact: Artifact) throws(SpoolError) -> Transcript {
      let bytes = try doing("read the words of", paths.recordingName) { () throws(SystemError) in
        try FileOperations.system.bytes(of: store.file(of: artifact.digest) ?? "")
      }
      return try Transcript(ofStage: bytes)
    }
    // Where the heard words are lost, those that were moved are all there is.
    let isHeardThere = store.file(of: told.heard.artifact.digest) != nil
    let source = isHeardThere ? told.heard : told.result
    let sound = try run.sound(
      ofWords: source.step, recording: told.recording, in: store)
    let origin = { (time: Double) in sound?.origin(of: time...time)?.lowerBound ?? time }
    (self.recordings, self.paths, self.run, self.told) = (recordings, paths, run, told)
    self.origin = origin
    corrections = try store.corrections.overlay(of: recordings, over: told.correctedTranscript)
    recognised = try transcript(source.artifact)
    heard = CorrectedTranscript(
      recognised, with: corrections, isWritten: told.isAligned, origin: origin)
    change = isMoved && isHeardThere ? told.moved?.by : nil
    let moved = change == nil ? nil : try transcript(told.result.artifact)
    removed = moved?.words.contains { $0.flags.contains(.removed) } == true ? .kept : .dropped
  }
}

extension DiskStore {
  /// What people have corrected in the words of this store's recordings.
  var wordOverlay: WordOverlay {
    { [self] (words, run, warn) throws(SpoolError) in
      let corrected = try corrections.versions()
      if corrected.isEmpty { return .unchanged }
      let run = run()
      // Words that are lost are known from earlier runs, and are to be found again first. What several
      // recordings make is known where they were joined.
      let isDone = !run.steps.contains { $0.outcome == .pending }
      if !isDone, (run.soundInputs ?? []).count > 1 { return .unknown }
      guard let maker = run.steps.maker(ofWords: words.identity),
        let told = try run.transcripts(of: maker.id, in: self).first(where: {
          $0.result.artifact == words.artifact
        }), let digest = told.recording
      else { return isDone ? .unchanged : .unknown }
      let recordings =
        told.isOfWhole ? try wholes(likeThat: told, of: run) : try recordings(likeThat: digest)
      // Those of a whole that older versions kept are under one of its recordings.
      let paths = told.inputs.compactMap { run.inputs[$0] }
      guard told.isOfWhole || recordings.contains(where: { corrected[$0.hex] != nil }) else {
        try correctionsLeft(by: paths, now: recordings, told, of: run, corrected).map(warn)
        return .unchanged
      }
      if !isDone { return .unknown }
      let found = try RecordingWords(
        told, of: run, recordings: recordings, paths: paths, isMoved: true, in: self)
      found.missedLines.forEach(warn)
      if found.corrections.isEmpty {
        try correctionsLeft(by: paths, now: recordings, told, of: run, corrected).map(warn)
      }
      guard found.isCorrected else { return .unchanged }
      return .changed(try TranscriptFormat.json.write(found.transcript))
    }
  }
}

extension DiskStore {
  /// Says of a recording without corrections that another one was in its place before whose words were
  /// corrected, and how its corrections are taken over; nil if there was none. Another one was there if
  /// a run took it from the same files, or if one of the files is the same and the words are alike.
  /// O(runs).
  /// - Parameters:
  ///   - paths: the recording's files.
  ///   - recordings: the digests of the files of its sound, or of the wholes of its sounds.
  ///   - told: its words in a run.
  ///   - corrected: what changes with the corrections of each recording that has some, by its digest.
  func correctionsLeft(
    by paths: [String], now recordings: [Digest], _ told: RunRecord.ToldTranscript,
    of run: RunRecord, _ corrected: [String: String]
  ) throws(SpoolError) -> String? {
    if corrected.isEmpty { return nil }
    let files = paths.map(FilePath.absolute)
    var earlier: [RunRecord] = []
    // A file that many runs have taken is hardly what was replaced least.
    var takers: [[RunRecord]] = []
    for file in Set(files) { takers.append(try runs.taking(file)) }
    for run in takers.sorted(by: { $0.count < $1.count }).joined()
    where !earlier.contains(where: { $0.id == run.id }) {
      earlier.append(run)
    }
    // What the same pipeline made is more likely to say the same than what others did.
    earlier = earlier.withFirst { $0.pipeline == run.pipeline }
    lazy var words = self.words(of: told)
    var isReadFor = Self.readLimit
    func says(_ other: RunRecord.ToldTranscript, in old: RunRecord) -> Bool {
      // A part was in the place of a whole, or a whole in that of a part, where the pipeline gave both
      // and they say as much: as where music was put in front.
      let isAlike = told.isOfWhole && other.isOfWhole
      guard isAlike || told.isOfWhole != other.isOfWhole && old.pipeline == run.pipeline,
        isReadFor > 0
      else { return false }
      isReadFor -= 1
      guard let words, let others = self.words(of: other) else { return false }
      let (count, otherCount) = (words.words.count, others.words.count)
      guard isAlike || min(count, otherCount) * 10 >= max(count, otherCount) * 8 else {
        return false
      }
      return Correction.likeness(of: others.words.map(\.text), to: words) >= Self.sameText
    }
    for old in earlier where old.id != run.id {
      let all = try old.transcripts(in: self)
      let others = all.filter { other in
        guard let digest = other.recording, corrected[digest.hex] != nil,
          file(of: other.result.artifact.digest) != nil
        else { return false }
        return !recordings.contains(digest) && (other.sound == nil || other.sound != told.sound)
      }
      // Of several wholes, that of the same step comes first.
      let likely = others.withFirst { $0.result.step == told.result.step }
      let other = likely.first { other in
        other.inputs.compactMap { old.inputs[$0] } == files || says(other, in: old)
      }
      guard let other else { continue }
      let name = "\(ExportName.stem(of: files.last ?? "")).corrected.srt"
      // A file of a whole may be of others too.
      let target =
        told.isOfWhole ? [run.id.name, told.result.step.name] : [paths.last ?? ""]
      // Where the run has cut words out, those that it heard are all there: the other has them perhaps.
      let step =
        other.moved != nil ? [other.heard.step.name] : all.count > 1 ? [other.result.step.name] : []
      let lines = [
        ["spool", "words", "export", old.id.name] + step + ["-o", name],
        ["spool", "words", "edit"] + target + ["--from", name],
      ].map(ShellWords.line)
      let leftOut = old.orderedInputs.filter {
        run.inputs[$0.name] == nil && old.soundInputs?.contains($0.name) == true
      }.map { $0.path.pathNames.last ?? $0.path }
      let parts = leftOut.joined(separator: ", ")
      let between =
        leftOut.isEmpty ? " && " : ", take out of \(name) what only \(parts) says, and then "
      return
        "\(paths.recordingName) is another recording than before, and the corrections of its words "
        + "before do not count for it; if it says the same, take them over: "
        + lines.joined(separator: between)
    }
    return nil
  }

  /// How many earlier transcripts are compared with the words of a recording, at most.
  private static let readLimit = 10
  /// The likeness of texts that say the same, but for what is between them: see ``Correction``.
  private static let sameText = 0.5

  /// The words of a run, as it gave them; nil if they cannot be read.
  private func words(of told: RunRecord.ToldTranscript) -> Transcript? {
    guard let path = file(of: told.result.artifact.digest),
      let bytes = try? FileOperations.system.bytes(of: path)
    else { return nil }
    return try? Transcript(ofStage: bytes)
  }
}

extension [StepRecord] {
  /// The step that gave words of an identity; nil if none did.
  fileprivate func maker(ofWords identity: Digest) -> StepRecord? {
    first { $0.outputs.values.contains { $0.kind == .transcript && $0.identity == identity } }
  }
}

extension RunRecord.ToldTranscript {
  /// The words whose corrections count, whatever recording they are kept under; nil if only those of
  /// the recording do.
  var correctedTranscript: Digest? { isOfWhole ? heard.artifact.digest : nil }
}

extension CorrectionTable {
  /// The corrections of a recording, oldest first.
  /// - Parameters:
  ///   - recordings: the digests of the files of its sound.
  ///   - transcript: as for ``all(of:over:)``.
  func overlay(
    of recordings: [Digest], over transcript: Digest?
  ) throws(SpoolError) -> [Correction] {
    try all(of: recordings, over: transcript).map { (stored) throws(SpoolError) in
      do {
        return Correction(
          author: stored.author, time: stored.time,
          changes: try [WordChange](jsonText: stored.changes))
      } catch {
        throw SpoolError(
          "read a correction of", recordings.first?.short ?? "a recording", reason: "\(error)",
          advice: "a newer Spool may have written it")
      }
    }
  }
}

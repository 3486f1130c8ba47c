import Glibc
import Intake
import PipelineModel
import Platform
import Search
import Stages
import Store
import Transcripts

extension Command {
  /// `spool words`: shows, corrects and exports the words of a recording.
  static let words = Command(
    name: "words", group: "Recordings",
    summary: "Show, correct, export and forget the words of a recording.",
    discussion: """
      edit opens the words in your editor, $VISUAL or $EDITOR: unsure ones have their confidence \
      behind them. What you change is a correction: spool search, words export and the captions of \
      later runs have it from then on. With --from, an edited caption or text is the \
      correction, and no editor is opened: SRT, WebVTT, plain text, JSON and the others that \
      transcripts come in. Only words count; unchanged ones keep their times, and others get theirs \
      from those around them. A text of another recording is refused, and one that leaves out many \
      words needs --yes.

      show prints the words with their times and how sure they are. undo takes the last correction \
      back. export writes the words as captions or text. forget removes all words of a recording from \
      the store and from spool search, with their corrections, and cannot be undone; it asks first on a \
      terminal, and needs --yes elsewhere. The recording, its exports and backups of the store stay, \
      and a later run finds the words again.

      The words of a sound that a run has joined or mixed of several recordings are of that whole, \
      intro.wav + talk.wav, and of none of them alone: name the run, or one of the recordings.

      A recording's words have the times of the recording. Those of a run are what it has made of \
      them in the end, or with STAGE at that stage: behind a cut and retime, those that are left. \
      Corrections are of the recording, also with other tags or in another container of the same \
      sound: they are in all of these, and an edit of what is left never deletes what was cut.

      The transcript itself stays as it is. Of several transcripts of a recording, aligned ones come \
      before recognised ones, and newer ones before older ones. Corrections lie over it: where a new \
      transcript lacks the place of one, show says so, and keeps it.
      """,
    positionals: [Options.action, Options.recording, Options.stage],
    options: [
      Options.from, Options.yes, Options.format, Options.output, Options.unsure, Options.below,
      Options.replace, Options.store, Options.json,
    ],
    examples: [
      Example("Correct the words of the newest run", "spool words edit last"),
      Example("Take in captions that you have edited", "spool words edit talk.wav --from talk.srt"),
      Example("Which words are unsure?", "spool words show talk.wav --unsure"),
      Example("Captions with the corrections", "spool words export talk.wav -o talk.srt"),
      Example("Remove what was said from the store", "spool words forget talk.wav"),
    ],
    perform: CommandContext.manageWords)
}

extension Options {
  fileprivate enum Action: String, CaseIterable, ArgumentValue {
    case edit, show, undo, export, forget
  }

  fileprivate static let action = Positional<Action>.required("ACTION", help: "What to do.")
  fileprivate static let recording = Positional<String>.required(
    "RECORDING",
    help: "The recording's file, its ID, noteId or name, or a run of it: its name, or last.",
    completion: NameKind.runs.hint(orFiles: []))
  fileprivate static let stage = Positional<String?>.optional(
    "STAGE", help: "Of a run: the words of this stage; RUN:STAGE is the same.")
  fileprivate static let yes = Option<Bool>.flag(
    "yes",
    help: "With edit, delete the words that the text leaves out, however many; with forget, do not "
      + "ask.")
  fileprivate static let from = Option<String?>.value(
    "from", "FILE", help: "With edit, the edited words; without it, an editor is opened.",
    completion: .files())
  fileprivate static let format = Option<String?>.value(
    "format", "FORMAT", help: "With edit and export, the format: srt, vtt, text, json, …",
    defaultText: "that of the file; else text to edit, srt to export")
  fileprivate static let output = Option<String?>.value(
    "out", "FILE", short: "o", help: "With export, the file to write.",
    defaultText: "standard output", completion: .files())
  fileprivate static let unsure = Option<Bool>.flag(
    "unsure", help: "With show, only words that are unsure.")
  fileprivate static let below = Option<Int>.value(
    "below", "PERCENT", default: 50,
    help: "With --unsure, the confidence under which a word is unsure.")
}

extension CommandContext {
  fileprivate func manageWords() throws(SpoolError) -> ExitCode {
    switch arguments[Options.action] {
    case .edit: try editWords()
    case .show: try showWords()
    case .undo: try undoCorrection()
    case .export: try exportWords()
    case .forget:
      try forgetWords(
        named: arguments[Options.recording], stage: arguments[Options.stage],
        isAgreed: arguments[Options.yes])
    }
  }

  /// The recording that the user names.
  private func recording(in store: DiskStore) throws(SpoolError) -> NamedRecording {
    let finder = NamedSoundFinder(context: self, stop: StopRequest())
    let reference = try finder.reference(
      arguments[Options.recording], stage: arguments[Options.stage])
    if case .run(let run, let stage) = reference {
      return try NamedRecording(run, stage: stage, in: store)
    }
    return try recording(reference, in: store)
  }

  // MARK: edit

  private func editWords() throws(SpoolError) -> ExitCode {
    try requireStore()
    let store = try openStore()
    var recording = try recording(in: store)
    if let path = arguments[Options.from] {
      try requireThere(path)
      // Captions that a run wrote were made of that run's words.
      let published = ResolvedPath.of(absolute(path))
      recording = recording.preferring(try store.runs.publishing(published).first)
    }
    let words = try recording.words(in: store)
    try report(words, in: store)
    if let path = arguments[Options.from] {
      let edited = try Self.words(in: path, format: try format(named: arguments[Options.format]))
      return try keep(edited, of: recording, in: store)
    }
    let format = try format(named: arguments[Options.format]) ?? .plainText
    let text =
      format == .plainText
      ? WordsText.text(of: words.transcript, name: words.name, time: SearchText.time)
      : try format.write(words.transcript, in: SubtitleLayout(), WritingOptions())
    let ending = format == .plainText ? ".txt" : format.fileEnding
    let (bytes, path) = try TextEditor.edit(text, ending: ending)
    do throws(SpoolError) {
      let code =
        bytes == Array(text.utf8)
        ? unchanged(words)
        : try keep(Self.words(in: path, format: format), of: recording, in: store)
      try? FileOperations.system.unlink(path)
      return code
    } catch {
      console.report("note: your text is still in \(Format.visible(path))")
      throw error
    }
  }

  private func unchanged(_ words: RecordingWords) -> ExitCode {
    answer(
      JSONLine(["recording": words.path, "changes": 0, "corrections": words.corrections.count]),
      "nothing is corrected: all words are the same")
    return .done
  }

  /// Below this share of a text it is another recording's: see ``Correction/likeness(of:to:)``.
  private static let leastLikeness = 0.15

  private func keep(
    _ edited: Transcript, of recording: NamedRecording, in store: DiskStore
  ) throws(SpoolError) -> ExitCode {
    guard !edited.words.isEmpty else {
      throw SpoolError(
        "the edited text has no words", reason: "nothing was corrected",
        advice: "leave the words that are right")
    }
    let text = edited.words.map(\.text)
    let (words, changes) = try recording.words(behind: edited, in: store)
    guard Correction.likeness(of: text, to: words.transcript) >= Self.leastLikeness else {
      throw SpoolError(
        "the text does not belong to \(words.name)",
        reason: "it has hardly a word in common with what was said",
        advice: "for another text run the pipeline with it: spool run words RECORDING TEXT")
    }
    for line in words.ignoredLines(of: edited) { console.report("note: \(Format.visible(line))") }
    if changes.isEmpty { return unchanged(words) }
    try refuse(deleting: changes.deletedWordCount, of: words)
    let (author, time) = (Self.userName, DateTime.text(of: SystemClock().now))
    try store.corrections.add(
      StoredCorrection(
        author: author, time: time, transcript: words.told.heard.artifact.digest,
        changes: JSONText.of(changes)),
      to: words.recordings, over: words.told.correctedTranscript, after: words.corrections.count)
    let target = [try lastingName(in: store)] + [arguments[Options.stage]].compactMap(\.self)
    let captions = try words.captionLines(in: store, option: namedStore)
    answer(
      JSONLine([
        "recording": words.path, "changes": changes.count, "deleted": changes.deletedWordCount,
        "added": changes.addedWordCount, "corrections": words.corrections.count + 1,
        "author": author, "time": time,
      ]),
      Format.visible(
        lines: [
          "corrected \(words.name): \(changes.summary)",
          "undo:  spool words undo \(ShellWords.line(target))",
        ] + [changes.takenBack(from: words.corrections)].compactMap(\.self) + captions))
    return .done
  }

  /// A text may delete so many words, or this share of all, and never more than half, unless the user
  /// has agreed: it may have been cut short.
  private static let (deletedWords, deletedShare) = (20, 0.1)

  private func refuse(deleting deleted: Int, of words: RecordingWords) throws(SpoolError) {
    let count = words.transcript.words.count
    let isMuch =
      deleted > Self.deletedWords && Double(deleted) > Self.deletedShare * Double(count)
      || 2 * deleted > count
    guard isMuch, !arguments[Options.yes] else { return }
    throw .usage(
      "the text would delete \(deleted) of the \(Count.of(count, "word")) of \(words.name)",
      reason: "it does not have them, as a text that was cut short",
      advice: "give the whole text, or add --yes to delete them")
  }

  /// The recording as it was named; another run may be the last by the time that this is typed again.
  private func lastingName(in store: DiskStore) throws(SpoolError) -> String {
    let typed = arguments[Options.recording]
    let parts = typed.split(separator: ":", maxSplits: 1)
    guard parts.first == "last", !FilePath.exists(typed) else { return typed }
    return try run(named: "last", in: store).id.name + typed.dropFirst(4)
  }

  private static var userName: String {
    UserAccount.name(of: getuid()) ?? Environment.variables["USER"] ?? "user \(getuid())"
  }

  private func format(named name: String?) throws(SpoolError) -> TranscriptFormat? {
    guard let name else { return nil }
    if let format = TranscriptFormat(named: name) { return format }
    throw .usage(
      "--format \(name) is unknown",
      advice: "one of " + TranscriptFormat.all.map(\.name).joined(separator: ", "))
  }

  /// The words of an edited file.
  private static func words(
    in path: String, format: TranscriptFormat?
  ) throws(SpoolError) -> Transcript {
    let bytes = try doing("read", path) { () throws(SystemError) in
      try FileOperations.system.bytes(following: path)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    if text.hasPrefix("#"), format == nil || format == .plainText {
      return WordsText.transcript(of: text)
    }
    if let format { return try format.read(bytes) }
    return try TranscriptFile(bytes, named: path).transcript
  }

  // MARK: show

  /// Says which corrections do not count.
  private func report(_ words: RecordingWords, in store: DiskStore) throws(SpoolError) {
    var lines = words.missedLines
    if words.corrections.isEmpty {
      let left = try store.correctionsLeft(
        by: words.paths, now: words.recordings, words.told, of: words.run,
        store.corrections.versions())
      lines += [left].compactMap(\.self)
    }
    for line in lines { console.report("note: \(Format.visible(line))") }
  }

  private func showWords() throws(SpoolError) -> ExitCode {
    let percent = arguments[Options.below]
    guard (0...100).contains(percent) else {
      throw .usage("--below is 0 to 100, not \(percent)", advice: "--below 50")
    }
    let limit = Double(percent) / 100
    let store = try existingStore()
    let words = try recording(in: store).words(in: store)
    let shown = words.transcript.words.enumerated().filter { _, word in
      !arguments[Options.unsure] || WordsText.isUnsure(word, below: limit)
    }
    let lines = shown.map { index, word in
      JSONLine([
        "word": index + 1, "text": word.text, "startTime": word.start, "endTime": word.end,
        "confidence": word.confidence, "flags": word.flags.isEmpty ? nil : word.flags.names,
        "speaker": word.speaker,
      ])
    }
    answer(list: lines, shown.map { Self.line($1) }.joined(separator: "\n"))
    try report(words, in: store)
    if !isJSON { console.report(Format.visible(Self.summary(words, limit))) }
    return .done
  }

  /// `0:12.3   31 %  beach`
  private static func line(_ word: TimedWord) -> String {
    let time = word.start.map(SearchText.time) ?? "–"
    let sureness = word.confidence.map { "\(Int(($0 * 100).rounded())) %" } ?? ""
    return Format.visible(
      "\(Format.padLeft(time, 9))  \(Format.padLeft(sureness, 5))  \(word.text)")
  }

  private static func summary(_ words: RecordingWords, _ limit: Double) -> String {
    let all = words.transcript.words
    let unsure = all.count { WordsText.isUnsure($0, below: limit) }
    var line = "\(Count.of(all.count, "word")) of \(words.name), \(unsure) unsure"
    if let last = words.corrections.last {
      let places = words.corrections.withoutWithdrawn.flatMap(\.changes).count
      line += "; \(Count.of(places, "place")) corrected, the last by \(last.author), \(last.time)"
    }
    return line
  }

  // MARK: undo and export

  private func undoCorrection() throws(SpoolError) -> ExitCode {
    try requireStore()
    let store = try openStore()
    let recording = try recording(in: store)
    let (recordings, transcript) = (recording.recordings, recording.correctedTranscript)
    guard let undone = try store.corrections.removeLast(of: recordings, over: transcript) else {
      throw SpoolError(
        "there is no correction of \(recording.name)", reason: "its words are as they were found",
        advice: "spool words edit makes one")
    }
    let rest = try store.corrections.all(of: recordings, over: transcript).count
    let words = try recording.words(in: store)
    let places = words.corrections.withoutWithdrawn.flatMap(\.changes).count
    let left = Count.of(places, "place") + (places == 1 ? " stays corrected" : " stay corrected")
    let captions = try words.captionLines(in: store, option: namedStore)
    answer(
      JSONLine([
        "recording": recording.path, "author": undone.author, "time": undone.time,
        "corrections": rest,
      ]),
      Format.visible(
        lines: [
          "took back the last edit of \(recording.name), by \(undone.author), \(undone.time); "
            + (places == 0 ? "none is left" : left)
        ] + captions))
    return .done
  }

  private func exportWords() throws(SpoolError) -> ExitCode {
    // As other tools have it, - is standard output.
    let path = arguments[Options.output].flatMap { $0 == "-" ? nil : $0 }
    let format = try exportFormat(for: path)
    let store = try path == nil ? existingStore() : openStore()
    let words = try recording(in: store).words(in: store)
    if let path { try refuseSidecar(at: path) }
    let text = try format.write(words.transcript, in: SubtitleLayout(), WritingOptions())
    try report(words, in: store)
    guard let path else {
      let line = JSONLine(["text": text, "bytes": text.utf8.count, "format": format.name])
      let words = text.last == "\n" ? String(text.dropLast()) : text
      console.print(isJSON ? JSONText.of(line) : words)
      return .done
    }
    let count = try store.publish(
      SHA256.digest(of: text), at: absolute(path), isReplacing: arguments[Options.replace]
    ) { (temporary) throws(SpoolError) in
      try doing("write", path) { () throws(SystemError) in
        let file = try FileOperations.system.open(temporary, O_WRONLY | O_TRUNC | O_NOFOLLOW)
        try FileOperations.system.write(Array(text.utf8), to: file)
      }
    }
    if arguments[Options.replace] { warnOfBrokenReceipts(at: [absolute(path)], in: store) }
    answer(
      JSONLine(["file": path, "bytes": count, "format": format.name]),
      Format.visible("wrote \(path)"))
    return .done
  }

  /// The format that was asked for, by its name or by the file's.
  private func exportFormat(for path: String?) throws(SpoolError) -> TranscriptFormat {
    if let format = try format(named: arguments[Options.format]) { return format }
    guard let path, let name = path.pathNames.last, name.dropFirst().contains(".")
    else { return .subRip }
    // The ending that a format is written with comes before others that it may have.
    let named = TranscriptFormat.all.filter { path.lowercased().hasSuffix($0.fileEnding) }
      .max { $0.fileEnding.count < $1.fileEnding.count }
    if let format = named ?? TranscriptFormat.all.first(where: { $0.isUsual(for: path) }) {
      return format
    }
    let endings = TranscriptFormat.all.compactMap(\.nameEndings.first).reduce(into: [String]()) {
      if !$0.contains($1) { $0.append($1) }
    }
    throw .usage(
      "no format of words has files like \(name)",
      advice: "one of \(endings.joined(separator: ", ")), or name a format with --format")
  }

  /// Refuses to write over a description of a recording, whatever may be replaced.
  private func refuseSidecar(at path: String) throws(SpoolError) {
    guard Sidecar.isThere(at: path) else { return }
    throw SpoolError(
      "\(path) describes a recording", reason: "it is a sidecar, and no transcript",
      advice: "choose another name")
  }
}

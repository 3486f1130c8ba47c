import Glibc
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
    summary: "Show, correct and export the words of a recording.",
    discussion: """
      edit opens the words in your editor, $VISUAL or $EDITOR: unsure ones have their confidence \
      behind them. What you change is a correction: spool search and words export use it from then \
      on, and later runs do not take it away. With --from, an edited caption or text is the \
      correction, and no editor is opened: SRT, WebVTT, plain text, JSON and the others that \
      transcripts come in. Only words count; unchanged ones keep their times, and others get theirs \
      from those around them. A text of another recording is refused.

      show prints the words with their times and how sure they are. undo takes the last correction \
      back. export writes the words as captions or text.

      The transcript itself stays as it is. Of several transcripts of a recording, aligned ones come \
      before recognised ones, and newer ones before older ones. Corrections lie over it: where a new \
      transcript lacks the place of one, show says so, and keeps it.
      """,
    positionals: [Options.action, Options.recording],
    options: [
      Options.from, Options.format, Options.output, Options.unsure, Options.below,
      Options.replace, Options.store, Options.json,
    ],
    examples: [
      Example("Correct the words of the newest run", "spool words edit last"),
      Example("Take in captions that you have edited", "spool words edit talk.wav --from talk.srt"),
      Example("Which words are unsure?", "spool words show talk.wav --unsure"),
      Example("Captions with the corrections", "spool words export talk.wav -o talk.srt"),
    ],
    perform: CommandContext.manageWords)
}

extension Options {
  fileprivate enum Action: String, CaseIterable, ArgumentValue {
    case edit, show, undo, export
  }

  fileprivate static let action = Positional<Action>.required("ACTION", help: "What to do.")
  fileprivate static let recording = Positional<String>.required(
    "RECORDING", help: "The recording's file, or a run of it: its name, or last.",
    completion: NameKind.runs.hint(orFiles: []))
  fileprivate static let from = Option<String?>.value(
    "from", "FILE", help: "With edit, the edited words; without it, an editor is opened.",
    completion: .files())
  fileprivate static let format = Option<String?>.value(
    "format", "FORMAT", help: "With edit and export, the format: srt, vtt, text, json, …",
    defaultText: "that of the file; else text to edit, srt to export")
  fileprivate static let output = Option<String?>.value(
    "output", "FILE", short: "o", help: "With export, the file to write.",
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
    }
  }

  /// The digest of the recording that the user names by its file or by a run, and its name.
  private func recording(in store: DiskStore) throws(SpoolError) -> (Digest, name: String) {
    let name = arguments[Options.recording]
    if name != "last", FilePath.exists(name) {
      return (try store.digest(ofFile: name), name)
    }
    if name.contains("/") {
      throw .usage("there is no file \(name)", advice: "name the recording, or a run: last")
    }
    let run = try run(named: name, in: store)
    let inputs = try run.transcripts(in: store).compactMap(\.input)
    guard let input = inputs.first, let digest = run.recordings?[input] else {
      throw SpoolError(
        "there are no words in run \(run.id)", reason: "it has not ended with a transcript",
        advice: "name a run of a pipeline like words, or the recording's file")
    }
    return (digest, run.inputs[input] ?? name)
  }

  private func words(in store: DiskStore) throws(SpoolError) -> RecordingWords {
    let (digest, name) = try recording(in: store)
    return try store.words(of: digest, named: name)
  }

  // MARK: edit

  private func editWords() throws(SpoolError) -> ExitCode {
    try requireStore()
    let store = try openStore()
    let words = try words(in: store)
    report(words)
    if let path = arguments[Options.from] {
      try requireThere(path)
      let edited = try Self.words(in: path, format: try format(named: arguments[Options.format]))
      return try keep(edited, of: words, in: store)
    }
    let format = try format(named: arguments[Options.format]) ?? .plainText
    let text =
      format == .plainText
      ? WordsText.text(of: words.transcript, name: words.name, time: SearchText.time)
      : try Self.text(words.transcript, as: format)
    let ending = format == .plainText ? ".txt" : format.fileEnding
    let (bytes, path) = try TextEditor.edit(text, ending: ending)
    do throws(SpoolError) {
      let code =
        bytes == Array(text.utf8)
        ? unchanged(words) : try keep(Self.words(in: path, format: format), of: words, in: store)
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
    _ edited: [String], of words: RecordingWords, in store: DiskStore
  ) throws(SpoolError) -> ExitCode {
    guard !edited.isEmpty else {
      throw SpoolError(
        "the edited text has no words", reason: "nothing was corrected",
        advice: "leave the words that are right")
    }
    guard Correction.likeness(of: edited, to: words.transcript) >= Self.leastLikeness else {
      throw SpoolError(
        "the text does not belong to \(words.name)",
        reason: "it has hardly a word in common with what was said",
        advice: "for another text run the pipeline with it: spool run words RECORDING TEXT")
    }
    let changes = Correction.changes(from: words.transcript, to: edited)
    if changes.isEmpty { return unchanged(words) }
    let (author, time) = (Self.userName, DateTime.text(of: SystemClock().now))
    try store.corrections.add(
      StoredCorrection(
        author: author, time: time, transcript: words.artifact.digest,
        changes: JSONText.of(changes)),
      to: words.recording, after: words.corrections.count)
    let name = ShellWords.line([arguments[Options.recording]])
    answer(
      JSONLine([
        "recording": words.path, "changes": changes.count,
        "corrections": words.corrections.count + 1, "author": author, "time": time,
      ]),
      Format.visible(lines: [
        "corrected \(words.name): \(Count.of(changes.count, "place"))",
        "undo:  spool words undo \(name)",
      ]))
    return .done
  }

  private static var userName: String {
    if let user = unsafe getpwuid(getuid()), let name = unsafe user.pointee.pw_name {
      return unsafe String(cString: name)
    }
    return Environment.variables["USER"] ?? "user \(getuid())"
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
  ) throws(SpoolError) -> [String] {
    let bytes = try doing("read", path) { () throws(SystemError) in
      try FileOperations.system.bytes(following: path)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    if text.hasPrefix("#"), format == nil || format == .plainText {
      return WordsText.words(of: text)
    }
    if let format { return try format.read(bytes).words.map(\.text) }
    return try TranscriptFile(SourceFile(path, named: path)).transcript.words.map(\.text)
  }

  // MARK: show

  /// Says what of the corrections was not applied.
  private func report(_ words: RecordingWords) {
    for line in words.missedLines { console.report("note: \(Format.visible(line))") }
  }

  private func showWords() throws(SpoolError) -> ExitCode {
    let percent = arguments[Options.below]
    guard (0...100).contains(percent) else {
      throw .usage("--below is 0 to 100, not \(percent)", advice: "--below 50")
    }
    let limit = Double(percent) / 100
    let words = try words(in: existingStore())
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
    report(words)
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
      line +=
        "; \(Count.of(words.corrections.count, "correction")), the last by \(last.author), "
        + last.time
    }
    return line
  }

  // MARK: undo and export

  private func undoCorrection() throws(SpoolError) -> ExitCode {
    try requireStore()
    let store = try openStore()
    let (digest, name) = try recording(in: store)
    guard let undone = try store.corrections.removeLast(of: digest) else {
      throw SpoolError(
        "there is no correction of \(name)", reason: "its words are as they were found",
        advice: "spool words edit makes one")
    }
    let rest = try store.corrections.all(of: digest).count
    answer(
      JSONLine([
        "recording": name, "author": undone.author, "time": undone.time, "corrections": rest,
      ]),
      Format.visible(
        "took back the correction by \(undone.author), \(undone.time); "
          + "\(rest == 0 ? "none is" : rest == 1 ? "1 is" : "\(rest) are") left"))
    return .done
  }

  private func exportWords() throws(SpoolError) -> ExitCode {
    let path = arguments[Options.output]
    let byName = path.flatMap { path in
      TranscriptFormat.all.first { path.lowercased().hasSuffix($0.fileEnding) }
    }
    let format = try format(named: arguments[Options.format]) ?? byName ?? .subRip
    let store = try path == nil ? existingStore() : openStore()
    let words = try words(in: store)
    let text = try Self.text(words.transcript, as: format)
    report(words)
    guard let path else {
      console.print(text.last == "\n" ? String(text.dropLast()) : text)
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
    answer(
      JSONLine(["file": path, "bytes": count, "format": format.name]),
      Format.visible("wrote \(path)"))
    return .done
  }

  /// The words in a format, as the stage `transcript` writes them.
  private static func text(
    _ transcript: Transcript, as format: TranscriptFormat
  ) throws(SpoolError) -> String {
    let shape =
      format.isSubtitles
      ? SubtitleLayout().subtitles(of: transcript)
      : format.needsTimes ? transcript.interpolatingUntimed : transcript
    return try format.write(shape.rounded)
  }
}

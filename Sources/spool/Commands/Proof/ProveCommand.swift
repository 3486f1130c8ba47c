import Glibc
import PipelineEngine
import PipelineModel
import Platform
import Proof
import Stages
import Store
import Transcripts

extension Command {
  /// `spool proof quote`: quotes a part of an export, with a proof that it is unchanged.
  static let prove = Command(
    name: "proof quote", group: "Proof",
    summary: "Quote a part of an export, with the proof that it is one.",
    discussion: """
      Writes a folder with the seconds that the quote lies in, as a WAV file, the receipt, and the \
      hashes by which anyone sees that these samples lead to the root that was signed, without \
      hearing the rest. spool verify FOLDER checks it; so does its verify.py, with Python and \
      openssl alone. Nothing is signed anew, and no key is needed.

      It works for WAV, ALAC and FLAC files whose receipt states a root over their samples. The \
      hashes of the other seconds come from the store; where they are gone, the export is read.

      A transcript is any file that align and recognize write, or what Whisper writes; where the \
      receipt vouches for one, that is taken. Case and punctuation of --words do not count. Words \
      are no part of the proof.

      The exit code is 4 if the receipt or the export is not as it was signed.
      """,
    positionals: [Options.place],
    options: [
      Options.from, Options.to, Options.words, Options.transcript, Options.export,
      Options.quoteFolder, Options.store, Options.keys, Options.json,
    ],
    examples: [
      Example("27 seconds", "spool proof quote exports/note.wav --from 00:12:04 --to 00:12:31"),
      Example(
        "What was said",
        "spool proof quote exports/note.receipt.json --words \"the garage is closed\""),
    ],
    perform: CommandContext.quote)
}

extension Options {
  fileprivate static let place = Positional<String>.required(
    "RECEIPT", help: "A receipt, or an export that one lies beside.", completion: .files())
  fileprivate static let from = Option<MediaTime?>.value(
    "from", "TIME", help: "Where the quote begins, in the export.")
  fileprivate static let to = Option<MediaTime?>.value(
    "to", "TIME", help: "Where the quote ends, in the export.")
  fileprivate static let words = Option<String?>.value(
    "words", "PHRASE", help: "Quote where this is said, by the transcript.")
  fileprivate static let transcript = Option<String?>.value(
    "transcript", "FILE", help: "Words with their times; the quote holds those in it.",
    defaultText: "the one that the receipt vouches for", completion: .files())
  fileprivate static let export = Option<String?>.value(
    "export", "NAME", help: "Which export of the receipt.",
    defaultText: "the first one without loss")
  fileprivate static let quoteFolder = Option<String?>.value(
    "out", "FOLDER", short: "o", help: "The quote's folder, which is not there yet, or empty.",
    defaultText: "named after the export and the time", completion: .folder)
}

extension CommandContext {
  fileprivate func quote() throws(SpoolError) -> ExitCode {
    try checkRange()
    let keys = try keyFolder().knownKeys()
    let stop = console.heed(SignalWatch.begin())
    let isDone = try make(keys: keys) { !stop.isRequested }
    return isDone ? .done : .interrupted(by: stop.signalNumber ?? SIGINT)
  }

  private func checkRange() throws(SpoolError) {
    switch (arguments[Options.from], arguments[Options.to], arguments[Options.words]) {
    case (let from?, let to?, nil):
      guard from.seconds < to.seconds else {
        throw .usage("--to is not behind --from", advice: "name the earlier time first")
      }
    case (nil, nil, _?): return
    default:
      throw .usage(
        "it takes either --from and --to, or --words",
        advice: "spool proof quote RECEIPT --from 00:12:04 --to 00:12:31")
    }
  }

  /// Writes the quote, and reports it.
  /// - Returns: false if stopped.
  private func make(keys: [VerifyingKey], mayGoOn: () -> Bool) throws(SpoolError) -> Bool {
    let (receipt, export) = try source(keys)
    let extent = export.samples.extent
    let named = try arguments[Options.transcript].map { (path) throws(SpoolError) in
      try WordSummary(path)
    }
    let transcript = named ?? WordSummary.vouched(by: receipt, saying: arguments[Options.words])
    let range = try frames(transcript, extent, export.name)
    let prover = try ClipProver(export, of: receipt)
    let kept = keptTree(prover)
    let meter = readingMeter()
    let remade =
      try kept == nil
      ? prover.remadeTree { done, count in
        let bytes = extent.frames * extent.frameByteCount
        meter.show(bytes / count * done, of: bytes)
        return mayGoOn()
      } : nil
    meter.clear()
    guard let tree = kept ?? remade else { return false }
    let folder = arguments[Options.quoteFolder] ?? name(of: range, extent, export.name)
    let words = transcript?.quoted(in: extent.time(of: range), by: receipt)
    let quote = try prover.write(range, tree, words: words, to: folder)
    let console = console
    if isJSON {
      console.print(
        JSONText.of(
          JSONLine(["folder": folder, "quote": quote.line, "words": words?.words.map(\.text)])))
      return true
    }
    tell(quote, words, isRemade: kept == nil, in: folder)
    for authority in prover.authoritiesMissing {
      console.report(
        "note:  there is no time stamp of \(Format.visible(authority)) yet, and spool verify will miss "
          + "it: type spool proof stamp, and prove again")
    }
    console.offer([
      NextCommand(["spool", "verify", folder]), NextCommand(["python3", "\(folder)/verify.py"]),
    ])
    return true
  }

  /// The receipt and the export to quote from.
  private func source(
    _ keys: [VerifyingKey]
  ) throws(SpoolError) -> (QuotableReceipt, QuotableReceipt.Export) {
    let place = arguments[Options.place]
    let isReceipt = place.hasSuffix(ReceiptSearch.ending)
    try requireThere(place)
    let receipt =
      try isReceipt
      ? QuotableReceipt(at: place, knownKeys: keys)
      : QuotableReceipt.find(for: place, knownKeys: keys)
    let name =
      arguments[Options.export]
      ?? (isReceipt ? nil : place.pathNames.last)
    let found =
      name.map { name in receipt.exports.first { $0.name == name } }
      ?? receipt.exports.first { $0.name.hasSuffix(".wav") } ?? receipt.exports.first
    guard let export = found else {
      let names = receipt.exports.map(\.name).joined(separator: ", ")
      throw SpoolError(
        "cannot quote from \(name ?? place)",
        reason: "the receipt states no root over its samples",
        advice: names.isEmpty
          ? "export WAV, ALAC or FLAC, and run the pipeline again"
          : "--export with one of: \(names)")
    }
    return (receipt, export)
  }

  private func keptTree(_ prover: ClipProver) -> SampleTree? {
    let path = StoreLocation.resolve(
      option: namedStore, environment: Environment.variables)
    guard DiskStore.isThere(at: path), let store = try? DiskStore(reading: path) else { return nil }
    return prover.keptTree(in: store)
  }

  /// The frames to quote.
  private func frames(
    _ transcript: WordSummary?, _ extent: SampleExtent, _ export: String
  ) throws(SpoolError) -> Range<Int> {
    var times = (
      from: arguments[Options.from]?.seconds ?? 0, to: arguments[Options.to]?.seconds ?? 0
    )
    if let phrase = arguments[Options.words] {
      guard let range = try transcript?.place(of: phrase) else {
        throw SpoolError(
          "cannot find \"\(phrase)\"", reason: "the receipt vouches for no transcript with times",
          advice: "name one with --transcript, or the times with --from and --to")
      }
      times = (range.lowerBound, range.upperBound)
    }
    let from = Int((times.from * Double(extent.rate)).rounded(.down))
    let to = Int((times.to * Double(extent.rate)).rounded(.up))
    guard from < to, to <= extent.frames else {
      throw SpoolError(
        "cannot quote \(Quote.time(times.from)) to \(Quote.time(times.to)) of \(export)",
        reason: "it is \(Quote.time(extent.time(of: extent.frames))) long",
        advice: "name times within it")
    }
    return from..<to
  }

  /// The default folder name: `note.quote-001204-001231`.
  private func name(of range: Range<Int>, _ extent: SampleExtent, _ export: String) -> String {
    let stem = export.pathNames.last?.split(separator: ".").first ?? "export"
    let times = [range.lowerBound, range.upperBound].map { frame in
      String(Quote.time(extent.time(of: frame)).prefix(8)).replacing(":", with: "")
    }
    return "\(stem).quote-\(times[0])-\(times[1])"
  }

  private func tell(_ quote: Quote, _ words: QuotedWords?, isRemade: Bool, in folder: String) {
    var lines = [
      "quoted    \(Format.visible(quote.export))   \(quote.rangeText)",
      "  clip    \(quote.clipText), \(Count.of(quote.blocks.count, "second"))",
      "  proof   \(Count.of(quote.siblings.count, "sibling")) to the root "
        + "\(quote.samples.root.hex.prefix(16))"
        + (isRemade ? ", made again from the export" : ""),
    ]
    if let words {
      let text = words.words.map(\.text).joined(separator: " ")
      lines.append("  words   " + Format.visible(text) + "   (not proven)")
    }
    console.print((lines + ["", "written to \(Format.visible(folder))/"]).joined(separator: "\n"))
  }
}

/// A timed transcript to quote from.
struct WordSummary {
  private let transcript: Transcript
  private let name: String
  private let digest: Digest

  /// Reads a transcript in any timed format.
  init(_ path: String) throws(SpoolError) {
    let file = try TranscriptFile(SourceFile(path))
    guard file.transcript.words.contains(where: { $0.start != nil && $0.end != nil }) else {
      throw SpoolError(
        "cannot use the transcript \(path)", reason: "it has no words with times",
        advice: "align gives them: spool run Pipelines/words.yaml RECORDING \(path)")
    }
    transcript = file.transcript
    digest = file.digest
    name = path.pathNames.last ?? path
  }

  /// The signed transcript beside a receipt, unchanged since, of several the first that says a phrase;
  /// nil if there is none.
  static func vouched(by receipt: QuotableReceipt, saying phrase: String?) -> WordSummary? {
    let names = receipt.names.values.sorted()
    var first: WordSummary?
    for format in TranscriptFormat.all where format.needsTimes || format == .json {
      for name in names where format.nameEndings.contains(where: { name.hasSuffix($0) }) {
        guard let path = receipt.path(ofFile: name), let words = try? WordSummary(path),
          receipt.names[words.digest] == name
        else { continue }
        guard let phrase, words.transcript.times(of: phrase).isEmpty else { return words }
        first = first ?? words
      }
    }
    return first
  }

  /// The range of a phrase, in seconds; refused unless it occurs exactly once.
  func place(of phrase: String) throws(SpoolError) -> Range<Double> {
    let times = transcript.times(of: phrase)
    guard let first = times.first else {
      throw SpoolError(
        "\"\(phrase)\" is not said in \(name)",
        reason: "no words of the transcript follow each other like that",
        advice: "name the times with --from and --to")
    }
    guard times.count == 1 else {
      let list = times.map { Quote.time($0.lowerBound) }
      let shown = list.prefix(20).joined(separator: ", ") + (list.count > 20 ? ", …" : "")
      throw SpoolError(
        "\"\(phrase)\" is said \(times.count) times in \(name)", reason: "at \(shown)",
        advice: "add the words around it, or name the times with --from and --to")
    }
    return first
  }

  /// What of a word has to be heard, in seconds: the frames of a range are whole ones, so that it may touch
  /// the words beside it.
  private static let leastHeard = 0.005

  /// The words in a range, in seconds.
  func quoted(in range: Range<Double>, by receipt: QuotableReceipt) -> QuotedWords {
    let words = transcript.words(in: range).map { word in
      (text: word.text, from: word.start ?? 0, to: word.end ?? 0)
    }.filter { word in
      let heard = min(word.to, range.upperBound) - max(word.from, range.lowerBound)
      return heard > Self.leastHeard || word.to - word.from <= Self.leastHeard
    }
    return QuotedWords(words, from: name, digest, subject: receipt.names[digest])
  }
}

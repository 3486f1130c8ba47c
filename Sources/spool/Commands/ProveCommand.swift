import Arguments
import Glibc
import Hashing
import PipelineEngine
import PipelineModel
import Proof
import Stages
import Store

/// `spool prove`: a part of an export, and what shows a stranger that it is one.
struct ProveCommand: Command {
  private static let place = Positional<String>.required(
    "RECEIPT", help: "A receipt, or an export that one lies beside.", completion: .files())
  private static let from = Option<MediaTime?>.value(
    "from", "TIME", help: "Where the quote begins, in the export.")
  private static let to = Option<MediaTime?>.value(
    "to", "TIME", help: "Where the quote ends, in the export.")
  private static let words = Option<String?>.value(
    "words", "PHRASE", help: "Quote where this is said, by the transcript.")
  private static let transcript = Option<String?>.value(
    "transcript", "FILE", help: "Words with their times; the quote holds those in it.",
    defaultText: "the one that the receipt vouches for", completion: .files())
  private static let export = Option<String?>.value(
    "export", "NAME", help: "Which export of the receipt.",
    defaultText: "the first one without loss")
  private static let out = Option<String?>.value(
    "out", "FOLDER", short: "o", help: "The quote's folder, which is not there yet, or empty.",
    defaultText: "named after the export and the time", completion: .folder)

  static let declaration = CommandDeclaration(
    name: "prove", group: "Proof",
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
    positionals: [place],
    options: [
      from, to, words, transcript, export, out, Options.store, Options.keys, Options.json,
    ],
    examples: [
      Example("27 seconds", "spool prove exports/note.wav --from 00:12:04 --to 00:12:31"),
      Example(
        "What was said",
        "spool prove exports/note.receipt.json --words \"the garage is closed\""),
    ])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let bench = Workbench(console: console)
    do throws(Workbench.Refusal) {
      let wish = try wish(console)
      let keys = try KeyCommand.asking(console) { () throws(ProofError) in
        try bench.keyFolder(at: arguments[Options.keys]).knownKeys()
      }
      let stop = SignalWatch.begin()
      let outcome: Made?
      do throws(QuoteError) {
        outcome = try make(wish, keys: keys, bench) { !stop.isRequested }
      } catch {
        throw Workbench.Refusal(
          text: ErrorText(StageError(error.message, reason: error.reason, advice: error.advice))
            .render(console), code: error.isBroken ? .verificationFailed : .failed)
      }
      guard let outcome else { return .interrupted(by: stop.signalNumber ?? SIGINT) }
      tell(outcome, console)
      return .done
    } catch {
      console.report(error.text)
      return error.code
    }
  }

  /// What is to be quoted.
  private enum Wish {
    case range(from: Double, to: Double)
    case words(String)
  }

  /// A quote that was made.
  private struct Made {
    let quote: Quote
    let folder: String
    let words: [QuotedWords.Word]?
    let isRemade: Bool
    let authoritiesMissing: [String]
  }

  private func wish(_ console: Console) throws(Workbench.Refusal) -> Wish {
    switch (arguments[Self.from], arguments[Self.to], arguments[Self.words]) {
    case (let from?, let to?, nil):
      guard from.seconds < to.seconds else {
        throw usage("--to is not behind --from", "name the earlier time first", console)
      }
      return .range(from: from.seconds, to: to.seconds)
    case (nil, nil, let words?): return .words(words)
    default:
      throw usage(
        "it takes either --from and --to, or --words",
        "spool prove RECEIPT --from 00:12:04 --to 00:12:31", console)
    }
  }

  private func usage(_ what: String, _ next: String, _ console: Console) -> Workbench.Refusal {
    Workbench.Refusal(text: "\(console.red("error:")) \(what)\nnext:  \(next)", code: .usage)
  }

  private func make(
    _ wish: Wish, keys: [VerifyingKey], _ bench: Workbench, mayGoOn: () -> Bool
  ) throws(QuoteError) -> Made? {
    let (receipt, export) = try source(keys)
    let extent = export.samples.extent
    let named = try arguments[Self.transcript].map { (path) throws(QuoteError) in
      try HeardWords(path)
    }
    let transcript = named ?? HeardWords.vouched(by: receipt)
    let range = try frames(wish, transcript, extent, export.name)
    let desk = try QuoteDesk(export, of: receipt)
    let kept = keptTree(desk, bench)
    let meter = ReadingMeter(bench.console, isShown: !arguments[Options.json])
    let remade =
      try kept == nil
      ? desk.remadeTree { done, count in
        let bytes = extent.frames * extent.frameByteCount
        meter.show(bytes / count * done, of: bytes)
        return mayGoOn()
      } : nil
    meter.clear()
    guard let tree = kept ?? remade else { return nil }
    let folder = arguments[Self.out] ?? name(of: range, extent, export.name)
    let words = transcript?.quoted(in: extent.time(of: range), by: receipt)
    let quote = try desk.write(range, tree, words: words, to: folder)
    return Made(
      quote: quote, folder: folder, words: words?.words, isRemade: kept == nil,
      authoritiesMissing: desk.authoritiesMissing)
  }

  /// The receipt, and the export to quote from.
  private func source(
    _ keys: [VerifyingKey]
  ) throws(QuoteError) -> (QuotableReceipt, QuotableReceipt.Export) {
    let place = arguments[Self.place]
    let isReceipt = place.hasSuffix(ReceiptSearch.ending)
    guard unsafe access(place, R_OK) == 0 else {
      throw QuoteError(
        "cannot read \(place)", reason: unsafe String(cString: strerror(errno)),
        advice: "check the path")
    }
    let receipt =
      try isReceipt
      ? QuotableReceipt(at: place, knownKeys: keys)
      : QuotableReceipt.find(for: place, knownKeys: keys)
    let name =
      arguments[Self.export]
      ?? (isReceipt ? nil : place.split(separator: "/").last.map(String.init))
    let found =
      name.map { name in receipt.exports.first { $0.name == name } }
      ?? receipt.exports.first { $0.name.hasSuffix(".wav") } ?? receipt.exports.first
    guard let export = found else {
      let names = receipt.exports.map(\.name).joined(separator: ", ")
      throw QuoteError(
        "cannot quote from \(name ?? place)",
        reason: "the receipt states no root over its samples",
        advice: names.isEmpty
          ? "export WAV, ALAC or FLAC, and run the pipeline again"
          : "--export with one of: \(names)")
    }
    return (receipt, export)
  }

  private func keptTree(_ desk: QuoteDesk, _ bench: Workbench) -> SampleTree? {
    let path = StoreLocation.resolve(
      option: arguments[Options.store], environment: Environment.variables)
    guard DiskStore.isThere(at: path), let store = try? DiskStore(reading: path) else {
      return nil
    }
    return desk.keptTree(in: store)
  }

  /// The frames that are quoted.
  private func frames(
    _ wish: Wish, _ transcript: HeardWords?, _ extent: SampleExtent, _ export: String
  ) throws(QuoteError) -> Range<Int> {
    let times: (from: Double, to: Double)
    switch wish {
    case .range(let from, let to): times = (from, to)
    case .words(let phrase):
      guard let range = try transcript?.place(of: phrase) else {
        throw QuoteError(
          "cannot find \"\(phrase)\"", reason: "the receipt vouches for no transcript with times",
          advice: "name one with --transcript, or the times with --from and --to")
      }
      times = (range.lowerBound, range.upperBound)
    }
    let from = Int((times.from * Double(extent.rate)).rounded(.down))
    let to = Int((times.to * Double(extent.rate)).rounded(.up))
    guard from < to, to <= extent.frames else {
      throw QuoteError(
        "cannot quote \(QuoteText.time(times.from)) to \(QuoteText.time(times.to)) of \(export)",
        reason: "it is \(QuoteText.time(extent.time(of: extent.frames))) long",
        advice: "name times within it")
    }
    return from..<to
  }

  /// What the folder is called, unless the user says so: `note.quote-001204-001231`.
  private func name(of range: Range<Int>, _ extent: SampleExtent, _ export: String) -> String {
    let stem = export.split(separator: "/").last?.split(separator: ".").first ?? "export"
    let times = [range.lowerBound, range.upperBound].map { frame in
      String(QuoteText.time(extent.time(of: frame)).prefix(8)).replacing(":", with: "")
    }
    return "\(stem).quote-\(times[0])-\(times[1])"
  }

  private func tell(_ made: Made, _ console: Console) {
    if arguments[Options.json] {
      return console.print(
        JSONText.of(
          MadeLine(
            folder: made.folder, quote: QuoteLine(made.quote), words: made.words?.map(\.text))))
    }
    let text = QuoteText(made.quote)
    let count = Count.of(made.quote.blocks.count, "second")
    var lines = [
      "quoted    \(Format.visible(made.quote.export))   \(text.range)",
      "  clip    \(text.clip), \(count)",
      "  proof   \(Count.of(made.quote.siblings.count, "sibling")) to the root "
        + "\(made.quote.samples.root.hex.prefix(16))"
        + (made.isRemade ? ", made again from the export" : ""),
    ]
    if let words = made.words {
      lines.append(
        "  words   " + Format.visible(words.map(\.text).joined(separator: " ")) + "   (not proven)")
    }
    console.print(
      (lines + ["", "written to \(Format.visible(made.folder))/"]).joined(separator: "\n"))
    for authority in made.authoritiesMissing {
      console.report(
        "note:  there is no time stamp of \(Format.visible(authority)) yet, and spool verify will miss "
          + "it: type spool stamp, and prove again")
    }
    console.report("next:  spool verify \(made.folder), or python3 \(made.folder)/verify.py")
  }

  /// What was made, as `--json` shows it.
  private struct MadeLine: Encodable {
    let folder: String
    let quote: QuoteLine
    let words: [String]?
  }
}

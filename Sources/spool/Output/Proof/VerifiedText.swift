import PipelineEngine
import Platform
import Proof

/// The results of verification as text. With `isQuiet`, only problems are shown.
enum VerifiedText {
  /// One line for each sound receipt, if they are few; every problem; and a count.
  /// - Parameter certificates: the file that time stamps were checked against; nil for those beside
  ///   them.
  static func lines(
    _ receipts: [VerifiedReceipt], certificates: String? = nil, isQuiet: Bool
  ) -> [String] {
    let isListing = !isQuiet && receipts.count <= 20
    let listed: [VerifiedReceipt] = isListing ? receipts.filter(\.isSound) : []
    let sound: [String] = listed.flatMap { verified($0, certificates) }
    let broken = receipts.filter { !$0.isSound }
    let files = receipts.reduce(0) { $0 + $1.fileCount }
    let bytes = receipts.reduce(0) { $0 + $1.byteCount }
    let verdict =
      broken.isEmpty
      ? "all as they were signed" : "\(broken.count) not as they were signed"
    let counts = "\(Count.of(receipts.count, "receipt")), \(Count.of(files, "file")), "
    return report(
      sound, broken.map { problems($0.path, $0.problems.map { (name(of: $0), $0.reason) }) },
      total: isQuiet || receipts.count < 2 ? nil : counts + "\(ByteCount(bytes)): \(verdict)")
  }

  private static func verified(_ receipt: VerifiedReceipt, _ certificates: String?) -> [String] {
    var lines = [
      "verified  \(Format.visible(receipt.path))   \(Count.of(receipt.stageCount, "stage")), "
        + "\(Count.of(receipt.fileCount, "file")), \(ByteCount(receipt.byteCount)), "
        + "key \(receipt.keyID?.prefix(16) ?? "")"
    ]
    lines += receipt.timeStamps.map { stamped($0, certificates) }
    lines += receipt.awaitedStamps.map {
      Format.visible(
        "  awaited  \($0)   the authority has not answered yet: spool stamp asks again")
    }
    return lines
  }

  /// One line for each sound bag, if they are few or have remarks; every problem; and a count.
  static func lines(_ bags: [VerifiedBag], isQuiet: Bool) -> [String] {
    let listed = bags.filter { $0.isSound && !isQuiet && (bags.count <= 20 || !$0.notes.isEmpty) }
    var sound: [String] = []
    for bag in listed {
      sound.append(
        "valid bag \(Format.visible(bag.path))   \(Count.of(bag.fileCount, "file")), "
          + "\(ByteCount(bag.byteCount))")
      sound += bag.notes.map {
        "  note    \(Format.visible($0.name))   \(Format.visible($0.reason))"
      }
    }
    let broken = bags.filter { !$0.isSound }
    let files = Count.of(bags.reduce(0) { $0 + $1.fileCount }, "file")
    let bytes = ByteCount(bags.reduce(0) { $0 + $1.byteCount })
    let verdict = broken.isEmpty ? "all valid" : "\(broken.count) not valid"
    return report(
      sound,
      broken.map { problems($0.path, $0.problems.map { (Format.visible($0.name), $0.reason) }) },
      total: isQuiet || bags.count < 2
        ? nil : "\(Count.of(bags.count, "bag")), \(files), \(bytes): \(verdict)")
  }

  /// Each sound quote, if they are few; every problem; and a count.
  static func lines(_ quotes: [VerifiedQuote], isQuiet: Bool) -> [String] {
    let isListing = !isQuiet && quotes.count <= 20
    let broken = quotes.filter { !$0.isSound }
    let verdict = broken.isEmpty ? "all proven" : "\(broken.count) not proven"
    return report(
      isListing ? quotes.filter(\.isSound).flatMap(proven) : [],
      broken.map { problems($0.path, $0.problems.map { (Format.visible($0.name), $0.reason) }) },
      total: isQuiet || quotes.count < 2
        ? nil : "\(Count.of(quotes.count, "quote")): \(verdict)")
  }

  /// Suggested commands.
  static func advice(for receipts: [VerifiedReceipt], keys: [String]) -> [String] {
    guard receipts.flatMap(\.problems).contains(where: { $0.kind == .key }) else { return [] }
    return [
      keys.isEmpty
        ? "get the signer's key from the signer, compare its name, and spool key import it"
        : "name the key that signed with --key; spool key show FILE tells a key's name"
    ]
  }

  /// The problems of a checked item: its name, and a line for each problem with culprit and reason in
  /// columns.
  /// - Parameter problems: the culprit, printable, and the reason.
  static func problems(
    _ path: String, _ problems: [(culprit: String, reason: String)]
  ) -> [String] {
    let width = problems.map(\.culprit.count).max() ?? 0
    return ["BROKEN    \(Format.visible(path))"]
      + problems.map { culprit, reason in
        "  \(culprit)\(String(repeating: " ", count: width - culprit.count))  "
          + Format.visible(reason)
      }
  }

  private static func report(
    _ sound: [String], _ broken: [[String]], total: String?
  ) -> [String] {
    let lines = sound + broken.flatMap { $0 }
    guard let total else { return lines }
    return lines + (lines.isEmpty ? [] : [""]) + [total]
  }

  private static func stamped(_ stamp: VerifiedTimeStamp, _ certificates: String?) -> String {
    let trusted =
      stamp.certificates.map { "\($0), which lies beside it" } ?? certificates ?? ""
    return Format.visible(
      "  stamped  \(stamp.name)   there on \(stamp.stamp.timeText), says "
        + "\(stamp.stamp.authority), trusted by \(trusted)")
  }

  private static func name(of problem: VerifiedReceipt.Problem) -> String {
    switch problem.kind {
    case .key, .signature: "key \(Format.visible(String(problem.name.prefix(16))))"
    default: Format.visible(problem.name)
    }
  }

  private static func proven(_ verified: VerifiedQuote) -> [String] {
    guard let quote = verified.quote else { return [] }
    let text = QuoteText(quote)
    var lines = [
      "proven    \(Format.visible(verified.path))   key \(verified.keyID?.prefix(16) ?? "")",
      "  quoted  \(text.range) of \(Format.visible(quote.export))",
      "  clip    \(text.clip), \(Count.of(quote.blocks.count, "block"))",
    ]
    lines += verified.timeStamps.map {
      Format.visible(
        "  stamped \($0.name)   there on \($0.stamp.timeText), says \($0.stamp.authority)")
    }
    lines += verified.notes.map {
      Format.visible("  note    \($0.name)   \($0.reason)")
    }
    if verified.hasWords { lines.append("  words   not proven: listen to the clip") }
    return lines
  }
}

/// The result for one receipt as `--json` shows it.
struct VerifiedLine: Encodable {
  private let receipt: String
  private let verified: Bool
  private let key: String?
  private let run: String?
  private let sources: [String]
  private let stages: Int
  private let files: Int
  private let bytes: Int
  private let timeStamps: [Stamp]
  private let awaitedStamps: [String]
  private let inLedger: Bool?
  private let problems: [VerifiedReceipt.Problem]

  /// A time stamp; without `certificates`, it was checked against those that the user named.
  private struct Stamp: Encodable {
    let name: String
    let time: String
    let authority: String
    let certificates: String?
  }

  init(_ receipt: VerifiedReceipt) {
    self.receipt = receipt.path
    verified = receipt.isSound
    key = receipt.keyID
    run = receipt.run
    sources = receipt.sources
    stages = receipt.stageCount
    files = receipt.fileCount
    bytes = receipt.byteCount
    timeStamps = receipt.timeStamps.map {
      Stamp(
        name: $0.name, time: $0.stamp.timeText, authority: $0.stamp.authority,
        certificates: $0.certificates)
    }
    awaitedStamps = receipt.awaitedStamps
    inLedger = receipt.isInLedger
    problems = receipt.problems
  }
}

/// The result for one bag, as `--json` shows it.
struct VerifiedBagLine: Encodable {
  private let bag: String
  private let verified: Bool
  private let files: Int
  private let bytes: Int
  private let problems: [VerifiedBag.Problem]
  private let notes: [VerifiedBag.Problem]

  init(_ bag: VerifiedBag) {
    self.bag = bag.path
    verified = bag.isSound
    files = bag.fileCount
    bytes = bag.byteCount
    problems = bag.problems
    notes = bag.notes
  }
}

/// The result for one quote as `--json` shows it.
struct VerifiedQuoteLine: Encodable {
  private let quote: String
  private let verified: Bool
  private let key: String?
  private let shows: QuoteLine?
  private let problems: [VerifiedQuote.Problem]
  private let notes: [VerifiedQuote.Problem]

  init(_ quote: VerifiedQuote) {
    self.quote = quote.path
    verified = quote.isSound
    key = quote.keyID
    shows = quote.quote.map { QuoteLine($0) }
    problems = quote.problems
    notes = quote.notes
  }
}

/// The ranges of a quote as text.
struct QuoteText {
  private let quote: Quote

  init(_ quote: Quote) { self.quote = quote }

  /// The quoted range: `0:12:04.000 to 0:12:31.000`.
  var range: String { Self.times(quote.range, quote.samples.extent) }

  /// The range of the clip.
  var clip: String {
    Self.times(quote.samples.extent.frames(of: quote.blocks), quote.samples.extent)
  }

  private static func times(_ frames: Range<Int>, _ extent: SampleExtent) -> String {
    "\(time(extent.time(of: frames.lowerBound))) to \(time(extent.time(of: frames.upperBound)))"
  }

  /// A position with milliseconds: `00:12:04.500`.
  static func time(_ seconds: Double) -> String {
    let whole = Int((seconds * 1000).rounded())
    func padded(_ number: Int, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return padded(whole / 3_600_000, 2) + ":" + padded(whole / 60_000 % 60, 2) + ":"
      + padded(whole / 1000 % 60, 2) + "." + padded(whole % 1000, 3)
  }
}

/// A quote as `--json` shows it; times in seconds of the export.
struct QuoteLine: Encodable {
  private let export: String
  private let from: Double
  private let to: Double
  private let clipFrom: Double
  private let clipTo: Double
  private let blocks: Int
  private let siblings: Int
  private let root: String

  init(_ quote: Quote) {
    let extent = quote.samples.extent
    let clip = extent.frames(of: quote.blocks)
    export = quote.export
    from = extent.time(of: quote.range.lowerBound)
    to = extent.time(of: quote.range.upperBound)
    clipFrom = extent.time(of: clip.lowerBound)
    clipTo = extent.time(of: clip.upperBound)
    blocks = quote.blocks.count
    siblings = quote.siblings.count
    root = quote.samples.root.hex
  }
}

import Proof

/// What came of checking quotes, for people.
struct VerifiedQuoteText {
  private let quotes: [VerifiedQuote]
  private let isQuiet: Bool

  /// - Parameter isQuiet: whether only what is wrong is told.
  init(_ quotes: [VerifiedQuote], isQuiet: Bool) {
    self.quotes = quotes
    self.isQuiet = isQuiet
  }

  /// What each sound quote shows where they are few; every problem; and how many were checked.
  var lines: [String] {
    var lines: [String] = []
    if !isQuiet, quotes.count <= 20 { lines += quotes.filter(\.isSound).flatMap(sound) }
    let broken = quotes.filter { !$0.isSound }
    for quote in broken {
      lines += BrokenText.lines(
        of: quote.path, quote.problems.map { (Format.visible($0.name), $0.reason) })
    }
    guard !isQuiet, quotes.count > 1 else { return lines }
    let verdict = broken.isEmpty ? "all proven" : "\(broken.count) not proven"
    if !lines.isEmpty { lines.append("") }
    return lines + ["\(Count.of(quotes.count, "quote")): \(verdict)"]
  }

  private func sound(_ verified: VerifiedQuote) -> [String] {
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

/// What came of checking one quote, as `--json` shows it.
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

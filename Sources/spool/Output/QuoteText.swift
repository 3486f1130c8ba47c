import Hashing
import Proof

/// What a quote is of, for people.
struct QuoteText {
  private let quote: Quote

  init(_ quote: Quote) { self.quote = quote }

  /// From when to when it is quoted: `0:12:04.000 to 0:12:31.000`.
  var range: String { Self.times(quote.range, quote.samples.extent) }

  /// From when to when the clip is.
  var clip: String {
    Self.times(quote.samples.extent.frames(of: quote.blocks), quote.samples.extent)
  }

  private static func times(_ frames: Range<Int>, _ extent: SampleExtent) -> String {
    "\(time(extent.time(of: frames.lowerBound))) to \(time(extent.time(of: frames.upperBound)))"
  }

  /// A place in a recording to the millisecond: `00:12:04.500`.
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

/// A quote, as `--json` shows it. Times are in seconds of the export.
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

import Hashing
import Proof

/// A transcript as a user names it, for a quote.
struct HeardWords {
  private let transcript: Transcript
  private let name: String
  private let digest: Digest

  /// Reads a transcript's file.
  init(_ path: String) throws(QuoteError) {
    do throws(ProofError) {
      let bytes = try Transcript.read(path)
      transcript = try Transcript(bytes, named: path)
      digest = SHA256.digest(of: bytes)
    } catch {
      throw QuoteError(error)
    }
    name = path.split(separator: "/").last.map(String.init) ?? path
  }

  /// When a phrase is said; refused unless it is said once.
  func place(of phrase: String) throws(QuoteError) -> Range<Double> {
    let times = transcript.times(of: phrase)
    guard let first = times.first else {
      throw QuoteError(
        "\"\(phrase)\" is not said in \(name)",
        reason: "no words of the transcript follow each other like that",
        advice: "name the times with --from and --to")
    }
    guard times.count == 1 else {
      let list = times.map { QuoteText.time($0.lowerBound) }
      let shown = list.prefix(20).joined(separator: ", ") + (list.count > 20 ? ", …" : "")
      throw QuoteError(
        "\"\(phrase)\" is said \(times.count) times in \(name)", reason: "at \(shown)",
        advice: "add the words around it, or name the times with --from and --to")
    }
    return first
  }

  /// The words that are said in a range, in seconds.
  func quoted(in range: Range<Double>, by receipt: QuotableReceipt) -> QuotedWords {
    QuotedWords(
      transcript.words(in: range), from: name, digest, subject: receipt.names[digest])
  }
}

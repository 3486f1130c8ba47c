import Hashing
import PipelineModel
import Proof
import Stages
import Transcripts

/// A transcript with times, for a quote.
struct HeardWords {
  private let transcript: Transcript
  private let name: String
  private let digest: Digest

  /// Reads a transcript's file, in any format that has times.
  init(_ path: String) throws(QuoteError) {
    let file: TranscriptFile
    do throws(StageError) { file = try TranscriptFile(path) } catch {
      throw QuoteError(error.message, reason: error.reason, advice: error.advice)
    }
    guard file.transcript.words.contains(where: { $0.start != nil && $0.end != nil }) else {
      throw QuoteError(
        "cannot use the transcript \(path)", reason: "it has no words with times",
        advice: "align gives them: spool run Pipelines/words.yaml RECORDING \(path)")
    }
    transcript = file.transcript
    digest = file.digest
    name = path.split(separator: "/").last.map(String.init) ?? path
  }

  /// The transcript that a receipt vouches for, which lies beside it as it was signed; nil where there
  /// is none.
  static func vouched(by receipt: QuotableReceipt) -> HeardWords? {
    let names = receipt.names.values.sorted()
    for format in TranscriptFormat.all where format.needsTimes || format == .json {
      for name in names where format.nameEndings.contains(where: { name.hasSuffix($0) }) {
        guard let path = receipt.path(ofFile: name), let words = try? HeardWords(path),
          receipt.names[words.digest] == name
        else { continue }
        return words
      }
    }
    return nil
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
    let words = transcript.words(in: range).map { word in
      QuotedWords.Word(text: word.text, from: word.start ?? 0, to: word.end ?? 0)
    }
    return QuotedWords(words, from: name, digest, subject: receipt.names[digest])
  }
}

public import Hashing
internal import JSONText

/// The words that are said in a quote, as a transcript has them: `words.json`.
public struct QuotedWords: Hashable, Sendable {
  /// A word.
  public struct Word: Hashable, Sendable {
    /// As it is written.
    public let text: String
    /// When it begins, in seconds of the export.
    public let from: Double
    /// When it ends, in seconds of the export.
    public let to: Double

    /// Describes a word.
    public init(text: String, from: Double, to: Double) {
      self.text = text
      self.from = from
      self.to = to
    }
  }

  /// The words.
  public let words: [Word]
  /// The transcript's file.
  public let transcript: String
  /// The SHA-256 of that file.
  public let digest: Digest
  /// What the receipt calls that file; nil where it does not vouch for it.
  public let subject: String?

  /// Describes the words of a quote.
  public init(
    _ words: [Word], from transcript: String, _ digest: Digest, subject: String?
  ) {
    self.words = words
    self.transcript = transcript
    self.digest = digest
    self.subject = subject
  }

  /// The words as a file: canonical JSON on one line. Times are seconds of the export.
  public var text: String {
    let vouched = subject.map {
      "The receipt vouches for the transcript as \($0): whoever has that file can compare."
    }
    return JSONValue.object([
      "note": .text(
        "The words are a transcript's opinion of the clip: the tree covers samples only. "
          + (vouched ?? "No receipt vouches for the transcript.")),
      "transcript": .object(["name": .text(transcript), "sha256": .text(digest.hex)]),
      "words": .list(
        words.map { word in
          .object([
            "text": .text(word.text), "startTime": .decimal(word.from),
            "endTime": .decimal(word.to),
          ])
        }),
    ]).compact + "\n"
  }
}

package import Platform

/// The words of a quote from a transcript: `words.json`.
package struct QuotedWords: Sendable {
  /// With their times in seconds of the export.
  package typealias Word = (text: String, from: Double, to: Double)

  package let words: [Word]
  package let transcript: String
  /// The SHA-256 of the transcript's file.
  package let digest: Digest
  /// The transcript's name in the receipt; nil if it is not a subject.
  package let subject: String?

  package init(
    _ words: [Word], from transcript: String, _ digest: Digest, subject: String?
  ) {
    self.words = words
    self.transcript = transcript
    self.digest = digest
    self.subject = subject
  }

  /// Canonical JSON on one line. Times are seconds of the export.
  package var text: String {
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

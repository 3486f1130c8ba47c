internal import JSONText

/// Words with their times, as somebody or something heard them.
public struct Transcript: Hashable, Sendable {
  /// The longest one that is read, in bytes: a day of speech is a tenth of it.
  public static let maximumByteCount = 64 << 20

  /// A word.
  public struct Word: Hashable, Sendable {
    /// As it is written.
    public let text: String
    /// When it begins, in seconds of the recording.
    public let from: Double
    /// When it ends, in seconds of the recording.
    public let to: Double
  }

  /// The words, in the order of the text.
  public let words: [Word]

  /// The bytes of a transcript's file, if they are no more than one has.
  public static func read(_ path: String) throws(ProofError) -> [UInt8] {
    try SubjectFile.readWhole(path, limit: maximumByteCount)
  }

  /// Reads JSON with `words` of `text`, `startTime` and `endTime`, or Whisper's `segments` with
  /// `words` of `word`, `start` and `end`.
  /// - Throws: saying which word has no text or no times.
  public init(_ bytes: [UInt8], named name: String) throws(ProofError) {
    let json: JSONValue
    do throws(JSONSyntaxError) {
      json = try JSONReader.strictValue(of: bytes, depthLimit: JSONReader.depthLimit)
    } catch {
      throw ProofError("cannot read the transcript \(name)", reason: "\(error)")
    }
    let listed =
      json["words"]?.list
      ?? json["segments"]?.list?.flatMap { $0["words"]?.list ?? [] } ?? []
    var words: [Word] = []
    for (index, word) in listed.enumerated() {
      guard let text = (word["text"] ?? word["word"])?.text,
        let from = (word["startTime"] ?? word["start"])?.decimal,
        let to = (word["endTime"] ?? word["end"])?.decimal, 0 <= from, from <= to
      else {
        throw ProofError(
          "cannot use the transcript \(name)",
          reason: "its word \(index + 1) has no text, or no times",
          advice: "words need text, startTime and endTime, in seconds")
      }
      words.append(Word(text: text, from: from, to: to))
    }
    guard !words.isEmpty else {
      throw ProofError(
        "cannot use the transcript \(name)", reason: "it has no words with times",
        advice: "words need text, startTime and endTime, in seconds")
    }
    self.words = words
  }

  /// Where a phrase is said: the times of its first and behind its last word. Case and punctuation do
  /// not count. O(words × words of the phrase).
  public func times(of phrase: String) -> [Range<Double>] {
    let wanted = Self.spoken(phrase)
    // A word as it is written may be several that are spoken: "twenty-one".
    let said = words.enumerated().flatMap { index, word in
      Self.spoken(word.text).map { (text: $0, index: index) }
    }
    guard !wanted.isEmpty, wanted.count <= said.count else { return [] }
    return (0...said.count - wanted.count).compactMap { start in
      let part = said[start..<start + wanted.count]
      guard part.map(\.text) == wanted, let first = part.first, let last = part.last else {
        return nil
      }
      let from = words[first.index].from
      return from..<max(from, words[last.index].to)
    }
  }

  /// The words that lie in a range, in whole or in part.
  public func words(in range: Range<Double>) -> [Word] {
    words.filter { $0.from < range.upperBound && $0.to > range.lowerBound }
  }

  /// A text's words without case and punctuation; an apostrophe does not part one.
  private static func spoken(_ text: String) -> [String] {
    text.lowercased().filter { !"'’".contains($0) }
      .split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }
}

extension JSONValue {
  /// The finite number; nil for anything else.
  fileprivate var decimal: Double? {
    guard case .number(let digits) = self, let number = Double(digits), number.isFinite else {
      return nil
    }
    return number
  }
}

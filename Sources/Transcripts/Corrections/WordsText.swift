/// The words of a transcript as a text for an editor: paragraphs with their times, unsure words marked.
///
/// Lines that begin with `#` are remarks. A mark is a confidence in braces behind a word:
/// `beach{31%}`. Reading ignores both.
package enum WordsText {
  /// Words less sure than this have a mark.
  package static let unsure = 0.5

  /// Whether a word is unsure: its confidence is known and lower, or it is flagged as uncertain.
  package static func isUnsure(_ word: TimedWord, below limit: Double = unsure) -> Bool {
    if let confidence = word.confidence { return confidence < limit }
    return word.flags.contains(.uncertain)
  }

  /// The text for an editor. O(length of the text).
  /// - Parameters:
  ///   - name: the recording's.
  ///   - time: a number of seconds as text.
  package static func text(
    of transcript: Transcript, name: String, time: (Double) -> String
  ) -> String {
    let count = transcript.words.count { isUnsure($0) }
    var lines = [
      "# Words of \(WrittenWords.onOneLine(name))",
      "# Correct what is wrong, then save and close. Lines that begin with # are remarks.",
      "# A number behind a word is how sure it is: beach{31%}. It may stay or go. Unsure: \(count).",
      "# Unchanged words keep their times; others get theirs from the words around them.",
      "# Without a change, or emptied, nothing is corrected.",
    ]
    for segment in transcript.segments where !segment.words.isEmpty {
      let speaker = segment.speaker.map { "  " + WrittenWords.onOneLine($0) } ?? ""
      lines += ["", "# " + (segment.knownStart.map(time) ?? "–") + speaker]
      lines += wrapped(segment.words.map(marked))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The words of an edited text, without remarks and marks, in its paragraphs. O(n).
  package static func transcript(of text: String) -> Transcript {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    let paragraphs = lines.split { $0.hasPrefix("#") || $0.allSatisfy(\.isWhitespace) }
    let segments = paragraphs.map { lines in
      Segment(
        words: lines.flatMap { WrittenWords.split(String($0)) }.map(unmarked)
          .filter { !$0.isEmpty }.map { TimedWord($0) })
    }
    return Transcript(segments: segments.filter { !$0.words.isEmpty })
  }

  private static func marked(_ word: TimedWord) -> String {
    guard isUnsure(word) else { return word.text }
    return word.text + "{\(Int(((word.confidence ?? 0) * 100).rounded()))%}"
  }

  /// Without a mark behind it, or behind its letters: `beach{31%},` is `beach,`.
  private static func unmarked(_ word: String) -> String {
    guard let open = word.lastIndex(of: "{"), let close = word[open...].firstIndex(of: "}"),
      word[word.index(after: open)..<close].last == "%",
      word[word.index(after: open)..<close].dropLast().allSatisfy(\.isNumber)
    else { return word }
    return String(word[..<open] + word[word.index(after: close)...])
  }

  /// Lines of about 80 characters; none begins with the sign of a remark.
  private static func wrapped(_ words: [String]) -> [String] {
    var lines: [String] = []
    for word in words {
      if let last = lines.last, last.count + word.count < 80 {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(word.hasPrefix("#") ? " " + word : word)
      }
    }
    return lines
  }
}

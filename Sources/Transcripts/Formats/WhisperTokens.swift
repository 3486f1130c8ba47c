import JSONText

/// Reads whisper.cpp's JSON: times in milliseconds, and in its full form the tokens that its words
/// consist of. A word is a token that begins with a space, and those behind it that do not.
enum WhisperTokens {
  /// The segments of `transcription`.
  static func segments(_ nodes: [JSONNode]) throws(TranscriptError) -> [Segment] {
    var segments: [Segment] = []
    for node in nodes {
      let (start, end) = try times(node)
      let text = WrittenWords.trimmed(try node.text("text") ?? "")
      // Who speaks is a text or, as the program guesses it, a number.
      let speaker = node.member("speaker")?.value
      var segment = Segment(
        text: text, start: start, end: end,
        speaker: speaker?.text ?? speaker?.integer.map(String.init))
      if let tokens = try node.objects("tokens") {
        segment.words = try words(tokens, of: segment)
        if text.isEmpty { segment.text = Segment(words: segment.words).text }
        segment = WovenText.completed(segment)
      }
      segments.append(segment)
    }
    return segments
  }

  private static func times(
    _ node: JSONNode
  ) throws(TranscriptError) -> (start: Double?, end: Double?) {
    guard let offsets = node.member("offsets") else { return (nil, nil) }
    return Times.ordered(
      try offsets.time("from", unit: 1000), try offsets.time("to", unit: 1000))
  }

  private static func words(
    _ tokens: [JSONNode], of segment: Segment
  ) throws(TranscriptError) -> [TimedWord] {
    var words: [TimedWord] = []
    var probabilities: [[Double]] = []
    for token in tokens {
      guard let text = try token.text("text"), !text.isEmpty else { continue }
      // `[_BEG_]`, `[_TT_150]`: what the model says about itself.
      if text.hasPrefix("[_"), text.hasSuffix("]") { continue }
      let (start, end) = try times(token)
      let isNew =
        text.unicodeScalars.first?.isSpace == true || words.isEmpty
        || text.unicodeScalars.first?.isWrittenWithoutSpaces == true
      if isNew {
        words.append(TimedWord(WrittenWords.trimmed(text), start: start, end: end))
        probabilities.append([])
      } else {
        words[words.count - 1].text += WrittenWords.trimmed(text)
        words[words.count - 1].end = end ?? words[words.count - 1].end
      }
      if let probability = token.share("p") {
        probabilities[probabilities.count - 1].append(probability)
      }
    }
    for (index, all) in probabilities.enumerated() where !all.isEmpty {
      words[index].confidence = all.reduce(0, +) / Double(all.count)
    }
    words.removeAll { $0.text.isEmpty }
    return mended(words, by: segment)
  }

  /// Letters that two tokens share are broken in both, and whole in the segment's text.
  private static func mended(_ words: [TimedWord], by segment: Segment) -> [TimedWord] {
    guard words.contains(where: { $0.text.unicodeScalars.contains("\u{fffd}") }) else {
      return words
    }
    guard segment.words.count == words.count else {
      return WovenText.segment(segment.text, timed: words).words
    }
    return zip(words, segment.words).map { word, whole in
      var word = word
      word.text = whole.text
      return word
    }
  }
}

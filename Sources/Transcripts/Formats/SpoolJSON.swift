import Platform

/// Spool's lossless format: `{"text", "words": [{"text", "startTime", "endTime", "confidence"}],
/// "isFinal"}`, and if known `language`, and per word `flags` and `speaker`.
///
/// If there are several segments, or one with times or a speaker, `segments` lists them, each with
/// its text and its `wordCount`.
extension TranscriptFormat {
  package static let json = TranscriptFormat(
    name: "json", summary: "JSON with all that is known of words and segments",
    nameEndings: [".json"], likeness: likeness, parse: parse, text: text)

  private static func likeness(of source: SourceText) -> Likeness {
    guard source.firstByte == UInt8(ascii: "{") else { return .none }
    if source.contains("\"startTime\"") || source.contains("\"isFinal\"") { return .certain }
    return source.contains("\"text\"") ? .possible : .none
  }

  private static func parse(_ source: SourceText) throws(SpoolError) -> Transcript {
    let root = try JSONNode(source)
    guard root.isObject else { throw root.error(expected: "an object") }
    var words: [TimedWord]?
    if let nodes = try root.objects("words") { words = try Self.words(nodes) }
    var isFinal = true
    if let member = root.member("isFinal") {
      guard case .boolean(let value) = member.value else {
        throw member.error(expected: "true or false")
      }
      isFinal = value
    }
    let segments = try segments(of: root, words: words)
    return Transcript(language: try root.text("language"), isFinal: isFinal, segments: segments)
  }

  private static func words(_ nodes: [JSONNode]) throws(SpoolError) -> [TimedWord] {
    try nodes.map { (node) throws(SpoolError) in
      guard let text = try node.text("text") else { throw node.error(expected: "the word's text") }
      let (start, end) = Times.ordered(try node.time("startTime"), try node.time("endTime"))
      return TimedWord(
        text, start: start, end: end, confidence: node.share("confidence"),
        flags: WordFlags(of: node), speaker: try node.text("speaker"))
    }
  }

  private static func segments(
    of root: JSONNode, words: [TimedWord]?
  ) throws(SpoolError) -> [Segment] {
    guard let nodes = try root.objects("segments"), !nodes.isEmpty else {
      let text = try root.text("text")
      if let words, !words.isEmpty {
        let hasText = text.map { !WrittenWords.trimmed($0).isEmpty } ?? false
        return [hasText ? Segment(text: text ?? "", words: words) : Segment(words: words)]
      }
      return text.map { $0.isEmpty ? [] : [Segment(text: $0)] } ?? []
    }
    var segments: [Segment] = []
    var rest = words?[...] ?? []
    for node in nodes {
      let (start, end) = Times.ordered(try node.time("startTime"), try node.time("endTime"))
      let text = try node.text("text")
      var own: [TimedWord]?
      if let count = try node.count("wordCount") {
        guard count <= rest.count else {
          throw node.error(expected: "no more words than are left: \(rest.count)")
        }
        own = Array(rest.prefix(count))
        rest.removeFirst(count)
      } else if let nodes = try node.objects("words") {
        own = try Self.words(nodes)
      }
      var segment = own.map { Segment(text: text ?? "", words: $0) } ?? Segment(text: text ?? "")
      if text == nil { segment = Segment(words: segment.words) }
      (segment.start, segment.end) = (start, end)
      segment.speaker = try node.text("speaker")
      segments.append(segment)
    }
    guard rest.isEmpty else {
      // Another program's segments, which do not count their words.
      guard rest.count == words?.count else {
        throw root.error(expected: "a segment for each word, while \(rest.count) are in none")
      }
      return Times.distributed(Array(rest), among: segments)
    }
    return segments
  }

  private static func text(
    of transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    JSONLayout.text([
      "text": .text(transcript.text),
      "words": .list(transcript.words.map(value)),
      "isFinal": .boolean(transcript.isFinal),
      "language": transcript.language.map(JSONValue.text),
      "segments": isPlain(transcript) ? nil : .list(transcript.segments.map(value)),
    ])
  }

  /// Whether text and words define all of its segments.
  private static func isPlain(_ transcript: Transcript) -> Bool {
    guard let only = transcript.segments.first else { return true }
    return transcript.segments.count == 1 && only.start == nil && only.end == nil
      && only.speaker == nil && !only.words.isEmpty && !WrittenWords.trimmed(only.text).isEmpty
  }

  private static func value(of word: TimedWord) -> JSONValue {
    .object(leavingOut: [
      "text": .text(word.text), "startTime": word.start.map(JSONValue.decimal),
      "endTime": word.end.map(JSONValue.decimal),
      "confidence": word.confidence.map(JSONValue.decimal),
      "speaker": word.speaker.map(JSONValue.text),
      "flags": word.flags.json,
    ])
  }

  private static func value(of segment: Segment) -> JSONValue {
    .object(leavingOut: [
      "text": .text(segment.text), "startTime": segment.start.map(JSONValue.decimal),
      "endTime": segment.end.map(JSONValue.decimal),
      "speaker": segment.speaker.map(JSONValue.text),
      "wordCount": .integer(segment.words.count),
    ])
  }
}

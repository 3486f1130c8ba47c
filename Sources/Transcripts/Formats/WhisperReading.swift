import JSONText

/// Reads what the family of Whisper writes: the members are told apart by their names.
enum WhisperReading {
  /// The transcript of a file.
  static func transcript(_ root: JSONNode) throws(TranscriptError) -> Transcript {
    if root.value.list != nil {
      return Transcript(segments: try segments(root.objects(), words: []))
    }
    guard root.isObject else { throw root.error(expected: "an object or a list") }
    if let pieces = try root.objects("transcription") {
      return Transcript(
        language: try root.member("result")?.text("language"),
        segments: try WhisperTokens.segments(pieces))
    }
    let language = try root.text("language")
    var apart = try words(root.objects("words") ?? [])
    if apart.isEmpty { apart = try words(root.objects("word_segments") ?? []) }
    if let nodes = try root.objects("segments") {
      return Transcript(language: language, segments: try segments(nodes, words: apart))
    }
    let text = WrittenWords.trimmed(try root.text("text") ?? "")
    guard root.member("text") != nil || !apart.isEmpty else {
      throw root.error(expected: "the members of Whisper: segments, transcription or text")
    }
    if apart.isEmpty {
      return Transcript(language: language, segments: text.isEmpty ? [] : [Segment(text: text)])
    }
    let segment = text.isEmpty ? Segment(words: apart) : WovenText.segment(text, timed: apart)
    return Transcript(language: language, segments: [segment])
  }

  private static func segments(
    _ nodes: [JSONNode], words apart: [TimedWord]
  ) throws(TranscriptError) -> [Segment] {
    var segments: [Segment] = []
    var haveWords = false
    for node in nodes {
      let (start, end) = Times.ordered(try node.time("start"), try node.time("end"))
      let speaker = try node.text("speaker")
      let text = WrittenWords.trimmed(try node.text("text") ?? "")
      var segment = Segment(text: text, start: start, end: end, speaker: speaker)
      if let nodes = try node.objects("words") {
        haveWords = true
        var words = try Self.words(nodes)
        // WhisperX repeats the segment's speaker with every word.
        for index in words.indices where words[index].speaker == speaker {
          words[index].speaker = nil
        }
        segment.words = words
        if text.isEmpty { segment.text = Segment(words: words).text }
        segment = WovenText.completed(segment)
      }
      segments.append(segment)
    }
    return haveWords || apart.isEmpty ? segments : Times.distributed(apart, among: segments)
  }

  private static func words(_ nodes: [JSONNode]) throws(TranscriptError) -> [TimedWord] {
    var words: [TimedWord] = []
    words.reserveCapacity(nodes.count)
    for node in nodes {
      var text = try node.text("word")
      if text == nil { text = try node.text("text") }
      guard let text else { throw node.error(expected: "a word with its text") }
      let trimmed = WrittenWords.trimmed(text)
      guard !trimmed.isEmpty else { continue }
      let (start, end) = Times.ordered(try node.time("start"), try node.time("end"))
      words.append(
        TimedWord(
          trimmed, start: start, end: end, confidence: node.share("probability", "score"),
          flags: WordFlags(of: node), speaker: try node.text("speaker")))
    }
    return words
  }
}

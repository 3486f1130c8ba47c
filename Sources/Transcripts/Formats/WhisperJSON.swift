import Platform

/// JSON of openai-whisper, faster-whisper, compatible recognition services, WhisperX and
/// whisper.cpp. Written in openai-whisper's form.
extension TranscriptFormat {
  static let whisper = TranscriptFormat(
    name: "whisper", summary: "JSON as Whisper writes it",
    nameEndings: [".whisper.json", ".json"], likeness: likeness, parse: parse, text: text)

  private static func likeness(of source: SourceText) -> Likeness {
    guard source.firstByte == UInt8(ascii: "{") || source.firstByte == UInt8(ascii: "[") else {
      return .none
    }
    if json.likeness(source) == .certain { return .none }
    // `[00:12]` is no list of words.
    let inside = source.bytes.prefix(64).drop { $0 <= 0x20 || $0 == UInt8(ascii: "[") }.first
    if let inside, inside.isDigit { return .none }
    // WhisperX's JSON is read here too, but has a format of its own.
    if source.contains("\"word_segments\"") { return .possible }
    let names = ["\"segments\"", "\"transcription\"", "\"word\"", "\"avg_logprob\""]
    return names.contains { source.contains($0) } ? .certain : .possible
  }

  private static func parse(_ source: SourceText) throws(SpoolError) -> Transcript {
    try transcript(JSONNode(source))
  }

  private static func text(
    of transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    let segments = transcript.segments.enumerated().map { index, segment in
      value(of: segment, id: index, options)
    }
    return JSONLayout.text([
      "text": .text(transcript.segments.map { leading($0.text) + $0.text }.joined()),
      "segments": .list(segments),
      "language": transcript.language.map(JSONValue.text),
    ])
  }

  private static func value(
    of segment: Segment, id: Int, _ options: WritingOptions
  ) -> JSONValue {
    let words = options.hasWordTimes ? words(of: segment) : nil
    return .object(leavingOut: [
      "id": .integer(id), "start": segment.knownStart.map(JSONValue.decimal),
      "end": segment.knownEnd.map(JSONValue.decimal),
      "text": .text(leading(segment.text) + segment.text),
      "speaker": segment.speaker.map(JSONValue.text), "words": words.map(JSONValue.list),
    ])
  }

  /// The words with their leading white space, as in Whisper's tokens.
  private static func words(of segment: Segment) -> [JSONValue] {
    let text = Array(segment.text.utf8)
    var cursor = 0
    let places = WordPlaces.find(segment.words.map(\.text), in: text)
    return zip(segment.words, places).map { word, place in
      let isJoined = place.map { cursor == $0.lowerBound && cursor > 0 } ?? false
      cursor = place?.upperBound ?? cursor
      return .object(leavingOut: [
        "word": .text((isJoined ? "" : leading(word.text)) + word.text),
        "start": word.start.map(JSONValue.decimal), "end": word.end.map(JSONValue.decimal),
        "probability": word.confidence.map(JSONValue.decimal),
        "speaker": word.speaker.map(JSONValue.text), "flags": word.flags.json,
      ])
    }
  }

  /// The space before text of scripts that use spaces.
  private static func leading(_ text: String) -> String {
    text.unicodeScalars.first?.isWrittenWithoutSpaces == false ? " " : ""
  }
}

/// Reads the Whisper family's JSON, distinguished by member names.
extension TranscriptFormat {
  private static func transcript(_ root: JSONNode) throws(SpoolError) -> Transcript {
    if root.value.list != nil {
      return Transcript(segments: try segments(root.objects(), words: []))
    }
    guard root.isObject else { throw root.error(expected: "an object or a list") }
    if let pieces = try root.objects("transcription") {
      return Transcript(
        language: try root.member("result")?.text("language"),
        segments: try segments(ofPieces: pieces))
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
  ) throws(SpoolError) -> [Segment] {
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
        // WhisperX repeats the segment's speaker in every word.
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

  private static func words(_ nodes: [JSONNode]) throws(SpoolError) -> [TimedWord] {
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

/// Reads whisper.cpp's JSON: times in milliseconds, and in the full form the words' tokens. A word
/// is a token that begins with a space, and the tokens after it without one.
extension TranscriptFormat {
  private static func segments(ofPieces nodes: [JSONNode]) throws(SpoolError) -> [Segment] {
    var segments: [Segment] = []
    for node in nodes {
      let (start, end) = try times(node)
      let text = WrittenWords.trimmed(try node.text("text") ?? "")
      // The speaker is a text or, if guessed by the program, a number.
      let speaker = node.member("speaker")?.value
      var segment = Segment(
        text: text, start: start, end: end,
        speaker: speaker?.text ?? speaker?.integer.map(String.init))
      if let tokens = try node.objects("tokens") {
        segment.words = try words(ofTokens: tokens, segment)
        if text.isEmpty { segment.text = Segment(words: segment.words).text }
        segment = WovenText.completed(segment)
      }
      segments.append(segment)
    }
    return segments
  }

  private static func times(
    _ node: JSONNode
  ) throws(SpoolError) -> (start: Double?, end: Double?) {
    guard let offsets = node.member("offsets") else { return (nil, nil) }
    return Times.ordered(
      try offsets.time("from", unit: 1000), try offsets.time("to", unit: 1000))
  }

  private static func words(
    ofTokens tokens: [JSONNode], _ segment: Segment
  ) throws(SpoolError) -> [TimedWord] {
    var words: [TimedWord] = []
    var probabilities: [[Double]] = []
    for token in tokens {
      guard let text = try token.text("text"), !text.isEmpty else { continue }
      // `[_BEG_]`, `[_TT_150]`: control tokens.
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

  /// Restores characters split across two tokens from the segment's text.
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

/// WhisperX's JSON: words have a `score`, and are repeated in `word_segments`.
extension TranscriptFormat {
  static let whisperX = TranscriptFormat(
    name: "whisperx", summary: "JSON as WhisperX writes it",
    nameEndings: [".whisperx.json"], likeness: likenessOfX, parse: parse, text: textOfX)

  private static func likenessOfX(_ source: SourceText) -> Likeness {
    guard source.contains("\"word_segments\"") else { return .none }
    return whisper.likeness(source) == .none ? .none : .certain
  }

  private static func textOfX(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    var words: [JSONValue] = []
    let segments = transcript.segments.map { segment in
      let own = segment.words.map { value(of: $0, in: segment) }
      words += own
      return JSONValue.object(leavingOut: [
        "start": segment.knownStart.map(JSONValue.decimal),
        "end": segment.knownEnd.map(JSONValue.decimal), "text": .text(segment.text),
        "speaker": segment.speaker.map(JSONValue.text),
        "words": options.hasWordTimes ? .list(own) : nil,
      ])
    }
    return JSONLayout.text([
      "segments": .list(segments),
      "word_segments": options.hasWordTimes ? .list(words) : nil,
      "language": transcript.language.map(JSONValue.text),
    ])
  }

  private static func value(of word: TimedWord, in segment: Segment) -> JSONValue {
    .object(leavingOut: [
      "word": .text(word.text), "start": word.start.map(JSONValue.decimal),
      "end": word.end.map(JSONValue.decimal), "score": word.confidence.map(JSONValue.decimal),
      "speaker": (word.speaker ?? segment.speaker).map(JSONValue.text),
      "flags": word.flags.json,
    ])
  }
}

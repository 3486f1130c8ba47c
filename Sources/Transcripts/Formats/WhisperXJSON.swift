import Platform

/// WhisperX's JSON: words have a `score`, and are repeated in `word_segments`.
enum WhisperXJSON: TranscriptCodec {
  static let name = "whisperx"
  static let summary = "JSON as WhisperX writes it"
  static let nameEndings = [".whisperx.json"]

  static func likeness(of source: SourceText) -> Likeness {
    guard source.contains("\"word_segments\"") else { return .none }
    return WhisperJSON.likeness(of: source) == .none ? .none : .certain
  }

  static func read(_ source: SourceText) throws(SpoolError) -> Transcript {
    try WhisperJSON.transcript(JSONNode(source))
  }

  static func write(
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

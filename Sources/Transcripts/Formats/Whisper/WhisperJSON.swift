import Platform

/// JSON of openai-whisper, faster-whisper, compatible recognition services, WhisperX and
/// whisper.cpp. Written in openai-whisper's form.
enum WhisperJSON: TranscriptCodec {
  static let name = "whisper"
  static let summary = "JSON as Whisper writes it"
  static let nameEndings = [".whisper.json", ".json"]

  static func likeness(of source: SourceText) -> Likeness {
    guard source.firstByte == UInt8(ascii: "{") || source.firstByte == UInt8(ascii: "[") else {
      return .none
    }
    if SpoolJSON.likeness(of: source) == .certain { return .none }
    // `[00:12]` is no list of words.
    let inside = source.bytes.prefix(64).drop { $0 <= 0x20 || $0 == UInt8(ascii: "[") }.first
    if let inside, (0x30...0x39).contains(inside) { return .none }
    // WhisperX's JSON is read here too, but has a format of its own.
    if source.contains("\"word_segments\"") { return .possible }
    let names = ["\"segments\"", "\"transcription\"", "\"word\"", "\"avg_logprob\""]
    return names.contains { source.contains($0) } ? .certain : .possible
  }

  static func read(
    _ source: SourceText, _ options: ReadingOptions
  ) throws(TranscriptError) -> Transcript {
    try WhisperReading.transcript(JSONNode(source))
  }

  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(TranscriptError) -> String {
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

import Foundation
import TestSupport
import Testing

/// What a recogniser really heard in a real recording, in the forms in which Whisper's programs write.
///
/// The words, times and confidences are those that Spool's own `recognize` finds in a sample when the test
/// runs, and not a recorded answer of Whisper: no program of that family is part of the package. The
/// forms are theirs.
@Suite(
  "What a recogniser heard comes through transcribe-external word by word",
  .enabled(if: Program(named: "python3") != nil, "there is no python3"),
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct RecognisedSpeechTests {
  private struct Heard: Decodable {
    struct Word: Decodable {
      let text: String
      let startTime: Double
      let endTime: Double
      let confidence: Double?
    }
    let words: [Word]
  }

  /// How a program of Whisper's family writes.
  enum Form: String, CaseIterable {
    /// `whisper-cli -ojf`: tokens, of which a word may have several.
    case tokens
    /// openai-whisper and faster-whisper: words.
    case words
    /// The same as a bare list of segments.
    case list
    /// The server of whisper.cpp: words that are tokens.
    case pieces
  }

  @Test("in every form", arguments: Form.allCases)
  func forms(form: Form) throws {
    let recording = PackageFiles.sample("note-1.m4a")
    let listening = try Workspace()
    let heard = try listening.run(PackageFiles.pipeline("words.yaml"), [recording])
    try #require(heard.exitCode == 0, "\(heard.errorOutput)")
    let spoken = try JSONDecoder().decode(Heard.self, from: listening.export("note-1.json")).words
    try #require(spoken.count > 20)

    let place = try PluginPlace()
    try place.copy("transcribe-external")
    let folder = "\(place.folder)/transcribe-external"
    try Self.text(of: spoken, in: form).write(
      toFile: "\(folder)/recorded.json", atomically: true, encoding: .utf8)
    let pipeline = try place.place.pipeline(
      """
      pipeline: heard
      inputs: { note: sound }
      stages:
        - decode
        - transcribe-external: { command: "cat \(folder)/recorded.json" }
        - transcript: { formats: [json] }
      """)
    let run = try place.place.run(pipeline, [recording])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let result = try JSONDecoder().decode(
      Heard.self, from: place.place.export("note-1.json")
    ).words
    #expect(result.map(\.text) == spoken.map(\.text))
    for (mine, theirs) in zip(result, spoken) {
      #expect(abs(mine.startTime - theirs.startTime) < 0.002, "\(mine) \(theirs)")
      #expect(abs(mine.endTime - theirs.endTime) < 0.002, "\(mine) \(theirs)")
      guard let confidence = theirs.confidence else { continue }
      #expect(abs((mine.confidence ?? -1) - confidence) < 0.001, "\(mine) \(theirs)")
    }
  }

  private static func text(of words: [Heard.Word], in form: Form) throws -> String {
    // Segments of about ten words, as recognisers make them.
    let segments = stride(from: 0, to: words.count, by: 10).map {
      Array(words[$0..<min($0 + 10, words.count)])
    }
    let document: Any =
      switch form {
      case .tokens:
        [
          "systeminfo": "AVX = 1 | NEON = 0 | COREML = 0", "model": ["type": "base", "ftype": 1],
          "params": ["language": "en", "translate": false], "result": ["language": "en"],
          "transcription": segments.map(Self.tokens),
        ] as [String: Any]
      case .words, .pieces:
        [
          "text": words.map { " \($0.text)" }.joined(), "language": "en",
          "segments": segments.map { segment($0, isCut: form == .pieces) },
        ] as [String: Any]
      case .list: segments.map { segment($0, isCut: false) }
      }
    let data = try JSONSerialization.data(withJSONObject: document)
    return String(decoding: data, as: UTF8.self)
  }

  private static func segment(_ words: [Heard.Word], isCut: Bool) -> [String: Any] {
    let pieces = words.flatMap { word -> [[String: Any]] in
      parts(of: word, isCut: isCut).map { part in
        [
          "word": part.text, "start": part.start, "end": part.end,
          "probability": word.confidence ?? 1,
        ]
      }
    }
    return [
      "id": 0, "seek": 0, "start": words.first?.startTime ?? 0, "end": words.last?.endTime ?? 0,
      "text": words.map { " \($0.text)" }.joined(), "temperature": 0, "avg_logprob": -0.3,
      "compression_ratio": 1.1, "no_speech_prob": 0.02, "words": pieces,
    ]
  }

  private static func tokens(_ words: [Heard.Word]) -> [String: Any] {
    func token(_ text: String, _ start: Double, _ end: Double, _ odds: Double) -> [String: Any] {
      [
        "text": text, "offsets": ["from": milliseconds(start), "to": milliseconds(end)],
        "id": 50_363, "p": odds, "t_dtw": -1,
      ]
    }
    let (start, end) = (words.first?.startTime ?? 0, words.last?.endTime ?? 0)
    let spoken = words.flatMap { word -> [[String: Any]] in
      parts(of: word, isCut: true).map { token($0.text, $0.start, $0.end, word.confidence ?? 1) }
    }
    return [
      "offsets": ["from": milliseconds(start), "to": milliseconds(end)],
      "text": words.map { " \($0.text)" }.joined(),
      "tokens": [token("[_BEG_]", start, start, 0.9)] + spoken
        + [token("[_TT_150]", end, end, 0.4)],
    ]
  }

  private static func milliseconds(_ seconds: Double) -> Int { Int((seconds * 1000).rounded()) }

  /// A word as tokens are: a space before it, and, where it is long enough, cut in two.
  private static func parts(
    of word: Heard.Word, isCut: Bool
  ) -> [(text: String, start: Double, end: Double)] {
    guard isCut, word.text.count > 5 else {
      return [(" \(word.text)", word.startTime, word.endTime)]
    }
    let middle = (word.startTime + word.endTime) / 2
    return [
      (" \(word.text.prefix(3))", word.startTime, middle),
      (String(word.text.dropFirst(3)), middle, word.endTime),
    ]
  }
}

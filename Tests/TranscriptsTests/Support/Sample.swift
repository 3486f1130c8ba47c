import Transcripts

/// Transcripts that several tests look at.
enum Sample {
  /// Two people, with everything that a word can have.
  static let talk = Transcript(
    language: "en",
    segments: [
      Segment(
        text: "Hello, world & <you>.",
        words: [
          TimedWord("Hello,", start: 0.5, end: 0.9, confidence: 0.98),
          TimedWord("world", start: 0.95, end: 1.3, confidence: 0.9),
          TimedWord("&", start: 1.3, end: 1.4, confidence: 0.4, flags: [.interpolated]),
          TimedWord("<you>.", start: 1.4, end: 2, confidence: 0.75),
        ], start: 0.5, end: 2, speaker: "Amy"),
      Segment(
        text: "No.\n7 costs $3.50?",
        words: [
          TimedWord("No.", start: 62.25, end: 62.5, confidence: 1),
          TimedWord("7", start: 62.5, end: 63, confidence: 0.5),
          TimedWord("costs", start: 63.12, end: 63.5, confidence: 0.25),
          TimedWord("$3.50?", start: 63.5, end: 64.75, confidence: 0.125),
        ], start: 62, end: 65, speaker: "Bob"),
    ])
}

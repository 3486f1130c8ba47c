/// Speech with the moments at which its words begin: what an alignment is held against.
struct TimedSpeech {
  /// A word and when it begins, in seconds.
  struct Word {
    let text: String
    /// Nil where nobody knows.
    let start: Double?
  }

  /// Where it comes from: `en-us+f3`, `msajc003.wav`.
  let name: String
  var words: [Word]
  /// One channel, 16 bits.
  var samples: [Int16]
  let sampleRate: Int

  /// Its length in seconds.
  var seconds: Double { Double(samples.count) / Double(sampleRate) }

  /// What is said, as plain text.
  var text: String { words.map(\.text).joined(separator: " ") }
}

import Speech

/// What is known of a recording before anybody listens for words: how loud it is, and where
/// somebody speaks.
struct SpeechSurvey {
  /// The levels.
  private(set) var trace = LevelTrace()
  /// The voices.
  private(set) var activity = VoiceActivity()

  /// Takes the next samples: 16 kHz, one channel, 16 bits.
  mutating func add(_ sound: Span<Int16>) {
    trace.add(sound)
    activity.add(sound)
  }
}

extension Sequence<Range<Int>> {
  /// Hundredths of a second as seconds.
  var seconds: [Range<Double>] { map { Double($0.lowerBound) / 100..<Double($0.upperBound) / 100 } }
}

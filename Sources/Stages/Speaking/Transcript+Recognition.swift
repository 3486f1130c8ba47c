import Speech
import Transcripts

extension Transcript {
  /// A pause of this length, in seconds, parts what is said.
  private static let pause = 0.7

  /// What a recogniser heard: a segment between two pauses.
  init(recognised words: [SaidWord], language: String?, speaker: String? = nil) {
    self.init(language: language)
    var turn: [TimedWord] = []
    for word in words {
      if let last = turn.last?.end, word.start - last >= Self.pause {
        segments.append(Segment(turn: turn, speaker: speaker))
        turn = []
      }
      turn.append(TimedWord(word))
    }
    if !turn.isEmpty { segments.append(Segment(turn: turn, speaker: speaker)) }
  }
}

extension Segment {
  fileprivate init(turn words: [TimedWord], speaker: String?) {
    self.init(words: words, start: words.first?.start, end: words.last?.end, speaker: speaker)
  }
}

extension TimedWord {
  fileprivate init(_ word: SaidWord) {
    self.init(word.text, start: word.start, end: word.end, confidence: word.confidence)
    if word.confidence < 0.5 { flags.insert(.uncertain) }
    if isOverlong { flags.insert(.overlong) }
  }
}

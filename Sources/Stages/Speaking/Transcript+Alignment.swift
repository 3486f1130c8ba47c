import Speech
import Transcripts

extension Transcript {
  /// The same words with the times that were found for them.
  func timed(by result: AlignmentResult, spoken: [SpokenWord]) -> Transcript {
    var transcript = self
    var number = 0
    var lastStart = 0.0
    let times = GivenTimes(words: words, result: result)
    for segment in transcript.segments.indices {
      for word in transcript.segments[segment].words.indices {
        if spoken[number].isSpoken, times.areBetter(at: number) {
          transcript.segments[segment].words[word].keepTimes()
        } else {
          let place = result.words[number]
          transcript.segments[segment].words[word].take(place, isSpoken: spoken[number].isSpoken)
        }
        lastStart = transcript.segments[segment].words[word].follow(lastStart)
        number += 1
      }
      let words = transcript.segments[segment].words
      transcript.segments[segment].start = words.first?.start
      transcript.segments[segment].end = words.last?.end
    }
    return transcript
  }
}

extension TimedWord {
  /// Nobody speaks a letter longer than this, in seconds, nor a word of one letter longer than a
  /// second.
  private static let longestLetter = 0.35
  /// Nor a digit or a sign, which stand for words: `2025` has 25 letters in German.
  private static let longestDigit = 0.75
  /// Nobody speaks faster than this, in seconds a letter.
  private static let shortestLetter = 0.015

  /// Begins no earlier than the word before, whose time may be of another origin, and gives its
  /// beginning.
  fileprivate mutating func follow(_ earliest: Double) -> Double {
    let begin = max(start ?? earliest, earliest)
    start = begin
    end = max(end ?? begin, begin)
    return begin
  }

  /// Keeps the times that somebody else found, and says that nobody heard the word there.
  fileprivate mutating func keepTimes() {
    confidence = min(confidence ?? 0, 0.49)
    flags = .uncertain
    if isOverlong { flags.insert(.overlong) }
  }

  /// Takes a place over, and says what is to be known about it.
  mutating func take(_ place: AlignedWord, isSpoken: Bool) {
    start = place.start
    end = place.end
    confidence = place.confidence
    flags = []
    if !place.isHeard { flags.insert(.interpolated) }
    if place.isHeard, place.confidence < 0.5 { flags.insert(.uncertain) }
    if isOverlong { flags.insert(.overlong) }
    if isSpoken, !place.isHeard, isCramped { flags.insert(.cramped) }
  }

  /// Whether it is longer than anybody speaks it.
  var isOverlong: Bool {
    guard let start, let end else { return false }
    let longest = text.reduce(0) { sum, character in
      let standsForWords = character.isNumber || character.isSymbol || character == "%"
      return sum + (standsForWords ? Self.longestDigit : Self.longestLetter)
    }
    return end - start > max(1, longest)
  }

  /// Whether it is shorter than anybody speaks it.
  private var isCramped: Bool {
    guard let start, let end else { return false }
    return end - start < Self.shortestLetter * Double(text.count { $0.isLetter || $0.isNumber })
  }
}

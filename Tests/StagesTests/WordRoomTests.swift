import Speech
@testable import Stages
import Testing
import Transcripts

@Suite("How much time words need, and how much of a text is spoken") struct WordRoomTests {
  @Test(
    "digits stand for words, and letters for themselves",
    arguments: [
      ("2025", 2.5, false), ("2025", 3.5, true), ("word", 1.3, false), ("word", 1.5, true),
      ("a", 0.9, false), ("a", 1.1, true), ("50", 1.4, false), ("$3.50,", 4, true),
    ])
  func room(text: String, seconds: Double, isOverlong: Bool) {
    #expect(TimedWord(text, start: 1, end: 1 + seconds).isOverlong == isOverlong)
  }

  @Test(
    "a word that was not heard says where there is no room for it",
    arguments: [(0.001, true), (0.05, true), (0.4, false)])
  func cramped(seconds: Double, isCramped: Bool) {
    func flags(isHeard: Bool) -> WordFlags {
      var word = TimedWord("something")
      word.take(
        AlignedWord(start: 1, end: 1 + seconds, confidence: 0.9, isHeard: isHeard), isSpoken: true)
      return word.flags
    }
    #expect(flags(isHeard: false) == (isCramped ? [.interpolated, .cramped] : .interpolated))
    #expect(flags(isHeard: true) == [])
  }

  /// A text of which the first words are heard, half a second each.
  private func outcome(heard: Int, of all: Int, extra: Int = 0) -> AlignedChannels.Outcome {
    let words = (0..<all).map { number in
      number < heard
        ? TimedWord("word", start: Double(number) / 2, end: Double(number + 1) / 2, confidence: 0.9)
        : TimedWord("word", start: 10, end: 10, confidence: 0, flags: .interpolated)
    }
    return AlignedChannels.Outcome(
      transcript: Transcript(segments: [Segment(words: words)]),
      share: Double(heard) / Double(all), extraWordCount: extra)
  }

  @Test("a text is too long where all that is spoken is in it, and foreign where much is not")
  func fit() {
    let unheard = outcome(heard: 20, of: 200).unheardWords(speech: [0..<10])
    #expect(unheard?.count == 180 && unheard?.all == 200)
    #expect(outcome(heard: 20, of: 200).unheardWords(speech: [0..<100]) == nil)
    #expect(outcome(heard: 20, of: 200, extra: 15).unheardWords(speech: [0..<10]) == nil)
    #expect(outcome(heard: 0, of: 200).unheardWords(speech: [0..<10]) == nil)
    #expect(outcome(heard: 20, of: 200).unheardWords(speech: []) == nil)
  }

  @Test("every broken limit is named with its figure and the limit, and kept ones are not")
  func limits() {
    func breaches(_ words: [TimedWord], speech: [Range<Double>]?, _ strict: Bool) -> [String] {
      let transcript = Transcript(segments: [Segment(words: words)])
      let limits = WordLimits.Parameters(
        untimedWords: strict ? 0 : nil, interpolated: strict ? 0 : nil,
        uncertain: strict ? 0.1 : nil, longestWord: strict ? 0.5 : nil,
        coverage: strict ? 0.8 : nil, outOfBounds: .fail)
      return WordLimits(limits).breaches(
        of: QualityReport(on: transcript, speech: speech), transcript)
    }
    let words = [
      TimedWord("a"), TimedWord("b", start: 0, end: 1, confidence: 0.3),
      TimedWord("c", start: 1, end: 1.2, flags: .interpolated),
    ]
    #expect(
      breaches(words, speech: [0..<12], true) == [
        "untimed-words is 2, at most 0 is allowed",
        "interpolated is 33.3 %, at most 0 % is allowed",
        "uncertain is 33.3 %, at most 10 % is allowed",
        "longest-word is 1 s, at most 0.5 s is allowed",
        "coverage is 10 %, at least 80 % is allowed",
      ])
    #expect(
      breaches([], speech: nil, true) == ["no speech was heard, and 80 % of it must have words"])
    #expect(breaches(words, speech: [0..<12], false).isEmpty)
  }
}

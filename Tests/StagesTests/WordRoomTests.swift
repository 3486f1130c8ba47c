import Foundation
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
  func cramped(seconds: Double, isCramped: Bool) throws {
    func flags(isHeard: Bool) throws -> WordFlags {
      let place = #"{"start":1,"end":\#(1 + seconds),"confidence":0.9,"isHeard":\#(isHeard)}"#
      var word = TimedWord("something")
      word.take(try JSONDecoder().decode(AlignedWord.self, from: Data(place.utf8)), isSpoken: true)
      return word.flags
    }
    #expect(try flags(isHeard: false) == (isCramped ? [.interpolated, .cramped] : .interpolated))
    #expect(try flags(isHeard: true) == [])
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
    let fit = TextFit(outcome(heard: 20, of: 200), [0..<10])
    #expect(fit.unheard?.count == 180 && fit.unheard?.all == 200)
    #expect(TextFit(outcome(heard: 20, of: 200), [0..<100]).unheard == nil)
    #expect(TextFit(outcome(heard: 20, of: 200, extra: 15), [0..<10]).unheard == nil)
    #expect(TextFit(outcome(heard: 0, of: 200), [0..<10]).unheard == nil)
    #expect(TextFit(outcome(heard: 20, of: 200), []).unheard == nil)
  }
}

import Platform
import Speech
import TestSupport
import Testing
import Transcripts

@Suite("Words that nobody said do not pass as said") struct WordConfidenceTests {
  @Test("in the place of others, in a voice")
  func inPlaceOfOthers() throws {
    let sound = try SpeechSamples.spoken(
      "The quick brown fox jumps over the lazy dog, while seven wizards quietly mix a box of jugs.")
    try expect(
      """
      the quick brown fox jumps over the GRANDMOTHER dog while seven ELEPHANTS quietly mix a box \
      of jugs
      """, in: sound)
    try expect(
      "the quick brown fox jumps over the lazy dog while ELEPHANT seven wizards quietly mix",
      in: sound
    )
  }

  @Test(
    "in the place of others, in a speech",
    .enabled(if: SpeechSamples.hasShared, "../shared/data is not there"))
  func inASpeech() throws {
    let sound = try SpeechSamples.shared("speech/jfk/jfk.wav")
    try expect(
      """
      and so my fellow GRANDMOTHERS ask not what your country can do for you ask what you can BUY \
      for your WINDOW
      """, in: sound)
  }

  @Test("in silence")
  func inSilence() throws {
    let silence = [Int16](repeating: 0, count: 48_000)
    let sound = silence + (try SpeechSamples.spoken("Please call me back on Monday.")) + silence
    try expect("YES please call me back on monday YES", in: sound)
  }

  /// Expects words to pass as said, but for those in capitals; those beside them may or may not.
  private func expect(_ text: String, in sound: [Int16]) throws {
    let written = text.split(separator: " ").map(String.init)
    var trace = LevelTrace()
    trace.add(sound.span)
    let result = try SphinxEngine(.english).align(
      EnglishSpelling().spoken(written.map { $0.lowercased() }), in: HeldSpeech(samples: sound),
      trace, threadCount: 1, from: AlignmentProgress()
    ) { (_) throws(SpoolError) in }
    let isSaid = written.map { $0 != $0.uppercased() }
    for (index, place) in result.words.enumerated() {
      let beside = isSaid[max(0, index - 1)...min(isSaid.count - 1, index + 1)]
      if !isSaid[index] {
        #expect(place.confidence < 0.5, "\(written[index]): \(place)")
      } else if !beside.contains(false) {
        #expect(place.confidence >= 0.5, "\(written[index]): \(place)")
      }
    }
  }
}

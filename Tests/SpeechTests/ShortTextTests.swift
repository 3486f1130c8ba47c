import Foundation
import Platform
import Speech
import TestSupport
import Testing
import Transcripts

@Suite("Short texts are found where they are spoken, and nowhere else") struct ShortTextTests {
  @Test("in synthetic speech")
  func synthetic() throws {
    let sound = try SpeechSamples.spoken(
      """
      The quick brown fox jumps over the lazy dog, while seven wizards quietly mix a box of jugs. \
      Please call me back on Monday morning, because the meeting with the client was moved.
      """)
    for text in ["brown fox jumps over", "the meeting with the client was", "monday morning"] {
      let share = try share(of: text, in: sound)
      #expect(share == 1, "\(text)")
    }
    for text in ["turn left at the", "the exhibition", "might even have been made"] {
      let share = try share(of: text, in: sound)
      #expect(share < 0.5, "\(text)")
    }
  }

  // Each of these passed for spoken while words that were heard were not held against other sounds.
  @Test(
    "in a speech", .enabled(if: SpeechSamples.hasShared, "../shared/data is not there"))
  func speech() throws {
    let sound = try SpeechSamples.shared("speech/jfk/jfk.wav")
    for text in ["my fellow americans ask not what", "what your country can do for you"] {
      let share = try share(of: text, in: sound)
      #expect(share == 1, "\(text)")
    }
    for text in [
      "the exhibition", "it cost", "turn left at the", "winter is coming early this year",
    ] {
      let share = try share(of: text, in: sound)
      #expect(share < 0.5, "\(text)")
    }
  }

  @Test(
    "in a reading", .enabled(if: SpeechSamples.hasShared, "../shared/data is not there"))
  func reading() throws {
    let sound = try SpeechSamples.shared("speech/sense-and-sensibility/ss-0870.wav")
    for text in ["be prudently", "how much there might be prudently"] {
      let share = try share(of: text, in: sound)
      #expect(share == 1, "\(text)")
    }
    for text in [
      "bobby ripped", "was considered beautiful", "thine own bright eyes",
      "or who is he so fond will be",
    ] {
      let share = try share(of: text, in: sound)
      #expect(share < 0.5, "\(text)")
    }
  }

  /// The share of a text's words that are found in sound.
  private func share(of text: String, in sound: [Int16]) throws -> Double {
    var trace = LevelTrace()
    trace.add(sound.span)
    let words = EnglishSpelling().spoken(text.components(separatedBy: " "))
    return try SphinxEngine(.english).align(
      words, in: HeldSpeech(samples: sound), trace, threadCount: 1, from: AlignmentProgress()
    ) { (_) throws(SpoolError) in }.share
  }
}

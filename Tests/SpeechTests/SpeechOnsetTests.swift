import Foundation
@testable import Speech
import Testing

@Suite("Where speech begins after a pause") struct SpeechOnsetTests {
  /// Half a second of silence or faint noise, then a tone.
  private func sound(noise: Int) -> [Int16] {
    (0..<16_000).map { index in
      let faint = noise == 0 ? 0 : Double((index &* 7919) % (2 * noise + 1) - noise)
      let tone = index < 8000 ? 0 : 8000 * sin(2 * .pi * 500 * Double(index) / 16_000)
      return Int16((faint + tone).rounded())
    }
  }

  @Test("a word that the model has begin early or late begins with its sound", arguments: [0, 10])
  func pause(noise: Int) {
    let onset = SpeechOnset(of: sound(noise: noise).span)
    for start in [460, 480, 500, 520] {
      #expect((490...500).contains(onset.onset(near: start, after: 200)))
    }
    // Where no silence was heard before it, the pause must be longer than the closure of a stop.
    #expect((490...500).contains(onset.onset(near: 460, after: 460)))
    // What is before it has ended by then.
    #expect(onset.onset(near: 520, after: 510) == 510)
  }

  @Test("amid speech, in loud noise and far from an onset everything stays where it is")
  func elsewhere() {
    #expect(SpeechOnset(of: sound(noise: 3000).span).onset(near: 480, after: 200) == 480)
    let onset = SpeechOnset(of: sound(noise: 10).span)
    for start in [100, 750, 990, 1000, 5000] {
      #expect(onset.onset(near: start, after: 0) == start)
    }
    #expect(SpeechOnset(of: [Int16]().span).onset(near: 0, after: 0) == 0)
  }
}

import Foundation
import Speech
import TestSupport
import Testing

@Suite("Where somebody speaks") struct VoiceActivityTests {
  @Test("speech is found between silence, and silence is not")
  func speech() throws {
    let said = try SpeechSamples.spoken("Please call me back on Monday morning.")
    let silence = Array(repeating: Int16(0), count: 32_000)
    let stretches = stretches(of: silence + said + silence)
    let first = try #require(stretches.first?.lowerBound)
    let last = try #require(stretches.last?.upperBound)
    #expect(abs(first - 200) < 25)
    #expect(abs(last - 200 - said.count / 160) < 45)
    let length = stretches.reduce(0) { $0 + $1.count }
    #expect(length > said.count / 160 / 2)
  }

  @Test("it is found in noise")
  func noisy() throws {
    let said = try SpeechSamples.spoken("Please call me back on Monday morning.")
    let sound = zip(said, noise(said.count, level: 800)).map { $0 &+ $1 }
    let clean = stretches(of: said).reduce(0) { $0 + $1.count }
    #expect(stretches(of: sound).reduce(0) { $0 + $1.count } > clean / 2)
  }

  @Test("noise, hum, a melody and silence are no speech")
  func others() {
    #expect(stretches(of: noise(160_000, level: 6000)).isEmpty)
    #expect(stretches(of: tones([50, 150])).isEmpty)
    #expect(stretches(of: melody([220, 247, 262, 294, 330, 294, 262, 247])).isEmpty)
    #expect(stretches(of: Array(repeating: 0, count: 160_000)).isEmpty)
    #expect(stretches(of: []).isEmpty)
  }

  @Test("the result does not depend on how the sound is divided")
  func blocks() throws {
    let said = try SpeechSamples.spoken("Please call me back on Monday morning.")
    var activity = VoiceActivity()
    for start in stride(from: 0, to: said.count, by: 777) {
      activity.add(Array(said[start..<min(said.count, start + 777)]).span)
    }
    #expect(activity.stretches == stretches(of: said))
  }

  private func stretches(of sound: [Int16]) -> [Range<Int>] {
    var activity = VoiceActivity()
    activity.add(sound.span)
    return activity.stretches
  }

  private func noise(_ count: Int, level: Int) -> [Int16] {
    var random = SeededRandom(seed: 7)
    return (0..<count).map { _ in Int16(Int.random(in: -level...level, using: &random)) }
  }

  /// A bowed instrument: half a second a note.
  private func melody(_ notes: [Double]) -> [Int16] {
    notes.flatMap { note in
      (0..<8000).map { frame in
        let overtones = (1...4).reduce(0) { sum, number in
          sum + sin(2 * .pi * note * Double(number * frame) / 16_000) / Double(number)
        }
        return Int16(8000 * overtones * min(1, Double(min(frame, 8000 - frame)) / 800))
      }
    }
  }

  private func tones(_ frequencies: [Double]) -> [Int16] {
    (0..<160_000).map { frame in
      let sum = frequencies.reduce(0) { $0 + sin(2 * .pi * $1 * Double(frame) / 16_000) }
      return Int16(6000 * sum)
    }
  }
}

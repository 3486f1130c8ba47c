import Foundation
import Speech
@testable import Stages
import Testing

@Suite("Speech that leaks into the channel of another speaker") struct LeakedSpeechTests {
  /// A channel with noise of these levels, in dB of full scale, two seconds each.
  private static func trace(_ levels: [Double]) -> LevelTrace {
    var trace = LevelTrace()
    for level in levels {
      let peak = Int16(32767 * pow(10, level / 20))
      let samples = (0..<32_000).map { $0.isMultiple(of: 2) ? peak : -peak }
      trace.add(samples.span)
    }
    return trace
  }

  /// A word in each of some times of two seconds.
  private static func places(_ times: [Int]) -> [AlignedWord] {
    times.map {
      AlignedWord(
        start: Double(2 * $0), end: Double(2 * $0 + 2), confidence: 0.9, isHeard: true)
    }
  }

  @Test("is where a channel is no louder than what it hears of the other, beside its own speech")
  func turns() {
    // Nothing, Anna, Ben, both, nothing.
    let leaked = LeakedSpeech(
      at: Self.places([1, 2]), on: [0, 1],
      in: [Self.trace([-70, -20, -46, -20, -70]), Self.trace([-70, -46, -20, -20, -70])])
    #expect(leaked.stretches.map(\.count) == [1, 1])
    let (left, right) = (leaked.stretches[0][0], leaked.stretches[1][0])
    #expect((415...425).contains(left.lowerBound) && (575...585).contains(left.upperBound))
    #expect((195...205).contains(right.lowerBound) && (375...385).contains(right.upperBound))
    #expect(leaked.allows(Self.places([1])[0], on: 0) && !leaked.allows(Self.places([2])[0], on: 0))
  }

  @Test("is nowhere in channels that hear both alike, nor where it is no louder than their noise")
  func none() {
    for level in [-20.0, -60] {
      let traces = [Self.trace([-60, -20, level]), Self.trace([-60, level, -20])]
      let leaked = LeakedSpeech(at: Self.places([1, 2]), on: [0, 1], in: traces)
      #expect(leaked.stretches == [[], []], "\(level)")
    }
  }
}

import Audio
import Foundation
import TestSupport
import Testing

@Suite struct JoinerTests {
  private static let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  /// Joins sounds that come in blocks of these sizes; nil where one was too short.
  private func join(
    _ parts: [TestSound], crossfade: Int, curve: FadeCurve = .equalPower, cuts: [Int] = [4096]
  ) -> TestSound? {
    let joiner = Joiner(crossfade: Frames(crossfade), curve: curve, format: Self.stereo)
    var result = TestSound(sampleRate: Self.stereo.sampleRate, channels: [[], []])
    for (index, part) in parts.enumerated() {
      var (start, turn) = (0, 0)
      while start < part.frameCount.count {
        let count = min(cuts[turn % cuts.count], part.frameCount.count - start)
        var output = AudioBuffer(channelCount: 2, capacity: Frames(count))
        joiner.take(part.buffer(start..<start + count), into: &output)
        result.append(output)
        start += count
        turn += 1
      }
      guard index == parts.count - 1 || joiner.endPart() else { return nil }
    }
    var output = AudioBuffer(channelCount: 2, capacity: Frames(crossfade))
    guard joiner.finish(into: &output) else { return nil }
    result.append(output)
    return result
  }

  private func parts(_ lengths: [Int]) -> [TestSound] {
    lengths.enumerated().map { .noise(seed: UInt64($0 + 1), Self.stereo, frames: $1) }
  }

  @Test func `without a crossfade sounds follow each other bit for bit`() throws {
    let parts = parts([3000, 1, 500])
    let whole = try #require(join(parts, crossfade: 0, cuts: [700, 1]))
    #expect(whole.channels == [0, 1].map { channel in parts.flatMap { $0.channels[channel] } })
  }

  @Test(arguments: [FadeCurve.linear, .sCurve, .equalPower])
  func `a crossfade is the sum of both, each under its curve`(curve: FadeCurve) throws {
    let parts = parts([1000, 800])
    let whole = try #require(join(parts, crossfade: 200, curve: curve))
    #expect(whole.frameCount == Frames(1600))
    #expect(whole[0..<800].isBitIdentical(to: parts[0][0..<800]))
    #expect(whole[1000..<1600].isBitIdentical(to: parts[1][200..<800]))
    for index in 0..<200 {
      let share = (Double(index) + 0.5) / 200
      let (falling, rising) =
        switch curve {
        case .linear: (1 - share, share)
        case .sCurve: ((1 + cos(.pi * share)) / 2, (1 - cos(.pi * share)) / 2)
        default: (cos(.pi / 2 * share), sin(.pi / 2 * share))
        }
      for channel in 0...1 {
        let expected =
          Double(parts[0].channels[channel][800 + index]) * falling
          + Double(parts[1].channels[channel][index]) * rising
        #expect(abs(Double(whole.channels[channel][800 + index]) - expected) < 1e-6)
      }
    }
  }

  @Test(arguments: [[1], [63, 1, 0, 64], [200, 7], [399, 401]])
  func `how the sounds are cut does not matter`(cuts: [Int]) throws {
    let parts = parts([900, 400, 401, 200])
    let whole = try #require(join(parts, crossfade: 200))
    #expect(whole.frameCount == Frames(1901 - 600))
    let cut = try #require(join(parts, crossfade: 200, cuts: cuts.map { max($0, 1) }))
    #expect(cut.firstDifference(from: whole) == nil)
  }

  @Test(arguments: [[199, 800], [800, 399, 800], [800, 199], [800, 800, 199]])
  func `a sound without room for its crossfades is refused`(lengths: [Int]) {
    #expect(join(parts(lengths), crossfade: 200) == nil)
    #expect(join(parts(lengths.map { $0 + 1 }), crossfade: 200) != nil)
  }

  @Test func `samples that are no numbers count as nothing`() throws {
    var parts = parts([1000, 1000])
    parts[0].channels[0][10] = .nan
    parts[0].channels[0][950] = .infinity
    parts[1].channels[1][20] = -.infinity
    let whole = try #require(join(parts, crossfade: 100))
    #expect(whole.channels.allSatisfy { $0.allSatisfy(\.isFinite) })
    #expect(whole.channels[0][10] == 0)
  }
}

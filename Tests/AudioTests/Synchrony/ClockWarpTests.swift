import Audio
import Glibc
import TestSupport
import Testing

@Suite struct ClockWarpTests {
  private static let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  private func warped(
    _ sound: TestSound, _ map: ClockMap?, start: Int, count: Int, blocks: [Int]
  ) -> TestSound {
    let warp = ClockWarp(
      map, format: sound.format, start: Frames(start), blockLength: Frames(1000))
    var result = TestSound(sampleRate: sound.format.sampleRate, channels: [[], []])
    var buffer = AudioBuffer(channelCount: 2, capacity: Frames(5000))
    var (taken, given, turn) = (0, 0, 0)
    while given < count {
      let length = min(blocks[turn % blocks.count], count - given)
      turn += 1
      warp.read(Frames(length), into: &buffer) { block in
        let next = min(1000, sound.frameCount.count - taken)
        guard next > 0 else { return false }
        block.copy(
          from: sound.buffer(taken..<taken + next), start: .zero, count: Frames(next))
        taken += next
        return true
      }
      result.append(buffer)
      given += length
    }
    return result
  }

  private func map(lag: Double, slope: Double) throws -> ClockMap {
    let points = (0..<20).map {
      ClockMap.Point(time: Double($0) * 5, lag: lag + slope * Double($0) * 5, quality: 12)
    }
    return try #require(ClockMap(points, slope: slope))
  }

  @Test func `a sine comes out as the other clock hears it`() throws {
    func sine(_ time: Double, _ channel: Int) -> Float {
      Float(0.5 * sin(2 * .pi * (channel == 0 ? 997 : 9_001) * time))
    }
    let sound = TestSound(Self.format, frames: 96_000) { sine(Double($1) / 48_000, $0) }
    let map = try map(lag: 0.25, slope: 120e-6)
    let result = warped(sound, map, start: 12_000, count: 90_000, blocks: [4096])
    var worst: Float = 0
    for frame in 2000..<88_000 {
      let time = map.recording(at: Double(frame + 12_000) / 48_000)
      for channel in 0..<2 {
        worst = max(worst, abs(result.channels[channel][frame] - sine(time, channel)))
      }
    }
    #expect(worst < 2e-5)
  }

  @Test func `how it is cut into blocks does not matter, nor where it begins`() throws {
    let sound = TestSound.noise(Self.format, frames: 20_000)
    let map = try map(lag: 0.1, slope: -90e-6)
    let whole = warped(sound, map, start: -500, count: 30_000, blocks: [5000])
    #expect(warped(sound, map, start: -500, count: 30_000, blocks: [1, 777, 4999]) == whole)
    let later = warped(sound, map, start: 7_000, count: 22_500, blocks: [3000])
    #expect(later == whole[7_500..<30_000])
    // It is silent before it begins at 0.1 s, and behind its end.
    #expect(whole.channels[0][..<5_000].allSatisfy { $0 == 0 })
    #expect(whole.channels[0][26_000...].allSatisfy { $0 == 0 })
  }

  @Test func `the reference stays as it is, bit for bit`() {
    let sound = TestSound.noise(Self.format, frames: 3_000)
    let result = warped(sound, nil, start: -100, count: 3_300, blocks: [512])
    #expect(result[100..<3_100] == sound)
    #expect(result.channels[1][..<100].allSatisfy { $0 == 0 })
    #expect(result.channels[1][3_100...].allSatisfy { $0 == 0 })
  }
}

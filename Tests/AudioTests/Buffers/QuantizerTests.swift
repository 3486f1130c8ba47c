import Audio
import Foundation
import TestSupport
import Testing

@Suite struct QuantizerTests {
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)
  private static let depths = [Quantizer.Depth.bits16, .bits24]

  private func range(_ depth: Quantizer.Depth) -> Double { pow(2, Double(depth.rawValue - 1)) }

  @Test(arguments: depths)
  func `keeps the promises of a processor`(depth: Quantizer.Depth) throws {
    let channelCounts = depth == .bits16 ? 1...8 : 1...2
    try checkProcessorConformance(channelCounts: channelCounts) { Quantizer(depth, format: $0) }
  }

  @Test(arguments: depths)
  func `puts every sample on the grid, within range and one and a half steps`(
    depth: Quantizer.Depth
  ) {
    let sound = TestSound.noise(amplitude: 1.2, stereo, frames: 4000)
    let result = sound.processed(by: Quantizer(depth, format: stereo))
    let range = range(depth)
    let isRight = zip(sound.interleaved, result.interleaved).allSatisfy { before, after in
      let steps = Double(after) * range
      let wanted = min(max(Double(before) * range, -range), range - 1)
      return steps == steps.rounded() && steps >= -range && steps <= range - 1
        && abs(steps - wanted) <= 1.5
    }
    #expect(isRight)
  }

  @Test(arguments: depths)
  func `leaves what lies on the grid`(depth: Quantizer.Depth) {
    let range = range(depth)
    var random = SeededRandom(seed: 5)
    let sound = TestSound(stereo, frames: 4000) { _, frame in
      let small = Double.random(in: -1...1, using: &random)
      let steps = frame % 2 == 0 ? small * range : small * 200
      return Float(min(steps.rounded(), range - 1) / range)
    }
    #expect(sound.processed(by: Quantizer(depth, format: stereo)).isBitIdentical(to: sound))
  }

  @Test(arguments: depths, [0.3, 0.5, 1000.17, -77.9])
  func `the error is noise of a quarter of a square step, without a trace of the sound`(
    depth: Quantizer.Depth, steps: Double
  ) {
    // The variance of triangular dither, 1/6, and of rounding, 1/12.
    let range = range(depth)
    let sample = Float(steps / range)
    let sound = TestSound.constant(sample, stereo, frames: 40_000)
    let result = sound.processed(by: Quantizer(depth, format: stereo))
    let errors = result.interleaved.map { (Double($0) - Double(sample)) * range }
    let mean = errors.reduce(0, +) / Double(errors.count)
    let variance = errors.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(errors.count)
    #expect(abs(mean) < 0.01)
    #expect(abs(variance - 0.25) < 0.01)
  }

  @Test func `the noise of neighbouring frames and channels has nothing in common`() {
    let sound = TestSound.constant(Float(0.5 / 32768), stereo, frames: 40_000)
    let result = sound.processed(by: Quantizer(.bits16, format: stereo))
    let left = result.channels[0].map { Double($0) * 32768 - 0.5 }
    let right = result.channels[1].map { Double($0) * 32768 - 0.5 }
    func correlation(_ a: some Sequence<Double>, _ b: some Sequence<Double>) -> Double {
      zip(a, b).reduce(0) { $0 + $1.0 * $1.1 } / 40_000 / 0.25
    }
    #expect(abs(correlation(left, right)) < 0.025)
    #expect(abs(correlation(left, left.dropFirst())) < 0.025)
    #expect(abs(correlation(left, left.dropFirst(2))) < 0.025)
    #expect(abs(correlation(right, left.dropFirst())) < 0.025)
  }

  @Test func `can start at any frame`() {
    let sound = TestSound.noise(stereo, frames: 3000)
    let whole = sound.processed(by: Quantizer(.bits16, format: stereo))
    let part = sound[1234..<3000].processed(
      by: Quantizer(.bits16, format: stereo, startingAt: Frames(1234)))
    #expect(part.isBitIdentical(to: whole[1234..<3000]))
  }

  /// What stands in the documentation, in plain arithmetic: a step of the grid, one number of
  /// SplitMix64 for two samples, and nothing of how the kernel does it.
  @Test(arguments: depths)
  func `every sample is the nearest step to it and its noise`(depth: Quantizer.Depth) {
    let range = range(depth)
    var random = SeededRandom(seed: 11)
    let sound = TestSound(stereo, frames: 5003) { _, frame in
      let size = [1.5, 1e-3, 2 / range, 0][frame % 4]
      return Float(Double.random(in: -1...1, using: &random) * size)
    }
    func expected(_ sample: Float, _ frame: Int, _ channel: Int) -> Float {
      var z = (UInt64(frame / 2) * 64 + UInt64(channel)) &* 0x9e37_79b9_7f4a_7c15
      z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
      z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
      z ^= z >> 31
      let half = frame % 2 == 0 ? z & 0xffff_ffff : z >> 32
      let noise = Double(Int(half >> 16) - Int(half & 0xffff)) / 0x1p16
      let scaled = min(max(Double(sample), -1), 1) * range
      if scaled == scaled.rounded() { return Float(min(scaled, range - 1) / range) }
      let fraction = scaled - scaled.rounded(.toNearestOrEven)
      // The kernel's own sum is a float.
      let step = (Float(fraction) + Float(noise)).rounded(.toNearestOrEven)
      let steps = scaled.rounded(.toNearestOrEven) + Double(step)
      return Float(min(max(steps, -range), range - 1) / range)
    }
    let start = 3_000_000_017
    let result = sound.processed(
      by: Quantizer(depth, format: stereo, startingAt: Frames(start)), cuts: [1, 255, 777])
    for channel in 0..<2 {
      let wrong = (0..<5003).first {
        result.channels[channel][$0]
          != expected(sound.channels[channel][$0], start + $0, channel)
      }
      #expect(wrong == nil)
    }
  }

  @Test func `full scale is clipped to the last step`() {
    let result = TestSound.square(half: 1, stereo, frames: 10)
      .processed(by: Quantizer(.bits16, format: stereo))
    #expect(result.channels[0].max() == 32767.0 / 32768)
    #expect(result.channels[0].min() == -1)
  }
}

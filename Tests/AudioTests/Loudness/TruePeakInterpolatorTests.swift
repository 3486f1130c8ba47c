@testable import Audio
import Foundation
import TestSupport
import Testing

@Suite struct TruePeakInterpolatorTests {
  private let mono = AudioFormat(sampleRate: Hertz(48_000), channelCount: 1)
  private static let group = TruePeakInterpolator.group

  /// The bound and the greatest point of the third of five groups.
  private func look(
    at sound: TestSound, factor: Int
  ) -> (bound: Float, extent: GroupExtent, peaks: [Float]) {
    let interpolator = TruePeakInterpolator(factor: factor)
    let peaks = Scratch<Float>(repeating: 0, count: Self.group)
    var extent = GroupExtent()
    unsafe sound.channels[0].withUnsafeBufferPointer {
      guard let start = $0.baseAddress else { return }
      for group in 1...3 {
        extent = unsafe extent.union(GroupExtent(start + group * Self.group))
      }
      unsafe interpolator.raise(peaks.start, by: start + 2 * Self.group)
    }
    return (interpolator.bound(extent), extent, (0..<Self.group).map { peaks[$0] })
  }

  @Test(arguments: [2, 4, 8])
  func `no point exceeds the bound, however wild the sound`(factor: Int) {
    var sounds: [TestSound] = []
    for seed in 1...12 {
      let noise = TestSound.noise(seed: UInt64(seed), mono, frames: 5 * Self.group)
      sounds += [noise, noise.map { $0 < 0 ? -1 : 1 }]
    }
    for frequency in [10.0, 300, 5000, 12_000, 18_000, 23_900] {
      sounds.append(
        .sine(Hertz(frequency), phase: frequency, mono, frames: 5 * Self.group))
    }
    for at in stride(from: 60, to: 200, by: 7) {
      sounds.append(.impulse(mono, frames: 5 * Self.group, at: at))
    }
    let isBounded = sounds.allSatisfy {
      let (bound, _, peaks) = look(at: $0, factor: factor)
      return peaks.allSatisfy { $0 <= bound }
    }
    #expect(isBounded)
  }

  @Test func `the sequence that the filter likes best comes close to the bound`() {
    // Signs that agree with a sinc half way between two samples.
    let sound = TestSound(mono, frames: 5 * Self.group) { _, frame in
      let distance = frame - 160
      return (distance >= 0) == (distance % 2 == 0) ? 1 : -1
    }
    let (bound, _, peaks) = look(at: sound, factor: 2)
    #expect((peaks.max() ?? 0) > 0.99 * bound)
    #expect((peaks.max() ?? 0) > 2.4)
  }

  @Test func `sound without treble is bounded by little more than its samples`() {
    let sound = TestSound.sine(Hertz(500), mono, frames: 5 * Self.group)
    let (bound, extent, _) = look(at: sound, factor: 4)
    #expect(bound < 1.01 * extent.peak)
  }

  @Test(arguments: [100.0, 1000, 9000, 15_000, 20_000])
  func `the points of a tone lie on the tone`(frequency: Double) {
    let sound = TestSound.sine(Hertz(frequency), mono, frames: 5 * Self.group)
    let (_, _, peaks) = look(at: sound, factor: 8)
    for (index, peak) in peaks.enumerated() {
      let expected = (0..<8).map { part in
        let time = Double(2 * Self.group + index) + Double(part) / 8
        return abs(sin(2 * .pi * frequency * time / 48_000))
      }.max()
      #expect(abs(Double(peak) - (expected ?? 0)) < 0.004)
    }
  }
}

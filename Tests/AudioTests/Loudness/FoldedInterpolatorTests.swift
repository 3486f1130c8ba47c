@testable import Audio
import TestSupport
import Testing

@Suite struct FoldedInterpolatorTests {
  private static let group = TruePeakInterpolator.group
  private let mono = AudioFormat(sampleRate: Hertz(48_000), channelCount: 1)
  private static let filters = [
    TruePeakFilter(factor: 8, reach: 64, beta: 4), TruePeakFilter(factor: 4, reach: 16, beta: 9),
    TruePeakFilter(factor: 2, reach: 5, beta: 3),
  ]

  @Test(arguments: filters)
  func `finds what the filter's own taps make of every phase`(filter: TruePeakFilter) {
    let sound = TestSound.noise(mono, frames: 3 * Self.group)
    let samples = sound.channels[0].map(Double.init)
    let peaks = Scratch<Float>(repeating: 0.05, count: Self.group)
    let room = Scratch<Float>(repeating: 0, count: samples.count)
    for (index, sample) in sound.channels[0].enumerated() { room[index] = sample }
    unsafe FoldedInterpolator(filter).raise(peaks.start, by: room.start + Self.group)
    for frame in 0..<Self.group {
      let place = Self.group + frame
      var expected = max(0.05, abs(samples[place]))
      for phase in 1..<filter.factor {
        let first = place - filter.reach + 1
        let point = filter.taps(phase: phase).enumerated().reduce(0) {
          $0 + $1.element * samples[first + $1.offset]
        }
        expected = max(expected, abs(point))
      }
      #expect(abs(Double(peaks[frame]) - expected) < 2e-6)
    }
  }

  @Test(arguments: filters)
  func `no point exceeds the bound`(filter: TruePeakFilter) {
    let interpolator = FoldedInterpolator(filter)
    var highest: Float = 0
    for seed in 1...20 {
      let noise = TestSound.noise(seed: UInt64(seed), mono, frames: 4 * Self.group)
      let frequency = Hertz(Double(seed) * 1190)
      for sound in [noise, noise.map { $0 < 0 ? -1 : 1 }, .sine(frequency, mono, frames: 256)] {
        let peaks = Scratch<Float>(repeating: 0, count: Self.group)
        var extent = GroupExtent()
        unsafe sound.channels[0].withUnsafeBufferPointer {
          guard let start = $0.baseAddress else { return }
          for group in 1...3 {
            extent = unsafe extent.union(GroupExtent(start + group * Self.group))
          }
          unsafe interpolator.raise(peaks.start, by: start + 2 * Self.group)
        }
        let peak = unsafe LinkedLevel.peak(peaks.start, count: Self.group)
        highest = max(highest, peak / filter.bound(extent))
      }
    }
    #expect(highest <= 1)
    #expect(highest > 0.5, "a bound so far off is of no use")
  }
}

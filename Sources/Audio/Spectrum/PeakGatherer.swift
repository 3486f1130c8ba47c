/// Reduces sound to the peaks of short stretches, channel by channel.
///
/// The result does not depend on block boundaries: a sample's lane follows from its place in the
/// stretch, and lanes are added up in one order. Damaged samples count as 0.
package final class PeakGatherer: Resumable {
  private let channelCount: Int
  private let stretch: Int
  /// Frames in the current stretch.
  private var phase = 0
  private var lanes: [PeakLanes]
  /// Room for samples with damaged ones replaced.
  private let row = Scratch<Float>(repeating: 0, count: rowLength)
  private static let rowLength = 1024

  /// Frames analysed so far.
  package private(set) var frames = Frames.zero

  /// One peak a channel for every `stretch` frames, at least 1.
  package init(format: AudioFormat, stretch: Frames) {
    precondition(stretch.count > 0)
    channelCount = format.channelCount
    self.stretch = stretch.count
    lanes = Array(repeating: PeakLanes(), count: format.channelCount)
  }

  /// Adds a block, and appends the peaks of each completed stretch: all channels of one stretch,
  /// then those of the next. O(samples).
  package func gather(_ block: borrowing AudioBuffer, into peaks: inout [Peak]) {
    var start = 0
    while start < block.frameCount.count {
      let count = min(stretch - phase, block.frameCount.count - start, Self.rowLength)
      for channel in 0..<channelCount {
        unsafe FiniteSamples.copy(
          from: block.baseAddress(ofChannel: channel) + start, to: row.start, count: count)
        unsafe lanes[channel].add(row.start, count: count, phase: phase)
      }
      start += count
      phase += count
      if phase == stretch { finish(into: &peaks) }
    }
    frames += block.frameCount
  }

  /// Appends the peaks of the current stretch, if it has begun.
  package func finish(into peaks: inout [Peak]) {
    guard phase > 0 else { return }
    phase = 0
    for channel in 0..<channelCount { peaks.append(lanes[channel].take()) }
  }

  /// The current stretch: a hundred bytes a channel.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(&phase, in: 0..<stretch)
    try coder.pass(&frames.count, in: 0...)
    try coder.pass(&lanes)
  }
}

/// The peak of the current stretch in eight lanes.
struct PeakLanes: BitwiseCopyable {
  private var lowest = SIMD8<Float>(repeating: .infinity)
  private var highest = SIMD8<Float>(repeating: -.infinity)
  private var energy = SIMD8<Double>.zero

  /// Adds `count` samples, the first of which is at `phase` of its stretch.
  mutating func add(_ samples: UnsafePointer<Float>, count: Int, phase: Int) {
    var index = 0
    while index < count, (phase &+ index) & 7 != 0 {
      unsafe addOne(samples[index], lane: (phase &+ index) & 7)
      index &+= 1
    }
    var (low, high, sum) = (lowest, highest, energy)
    while index &+ 8 <= count {
      let eight = unsafe UnsafeRawPointer(samples + index).loadUnaligned(as: SIMD8<Float>.self)
      low = low.replacing(with: eight, where: eight .< low)
      high = high.replacing(with: eight, where: eight .> high)
      let wide = SIMD8<Double>(eight)
      sum += wide * wide
      index &+= 8
    }
    (lowest, highest, energy) = (low, high, sum)
    while index < count {
      unsafe addOne(samples[index], lane: (phase &+ index) & 7)
      index &+= 1
    }
  }

  private mutating func addOne(_ sample: Float, lane: Int) {
    lowest[lane] = min(lowest[lane], sample)
    highest[lane] = max(highest[lane], sample)
    energy[lane] += Double(sample) * Double(sample)
  }

  /// The peak of the stretch; resets the lanes.
  mutating func take() -> Peak {
    defer { self = PeakLanes() }
    return Peak(lowest: lowest.min(), highest: highest.max(), energy: Float(energy.sum()))
  }
}

/// The range and energy of one channel's samples in a stretch: one point of a waveform.
package struct Peak: Hashable, Sendable, BitwiseCopyable {
  /// The lowest sample; full scale is −1.
  package var lowest: Float
  /// The highest sample; full scale is 1.
  package var highest: Float
  /// The sum of the squares of all samples.
  package var energy: Float

  package init(lowest: Float, highest: Float, energy: Float) {
    self.lowest = lowest
    self.highest = highest
    self.energy = energy
  }

  /// No samples: the neutral element of `union`.
  package static let none = Peak(lowest: .infinity, highest: -.infinity, energy: 0)

  /// The peak of two stretches together.
  @inlinable
  package func union(_ other: Peak) -> Peak {
    Peak(
      lowest: min(lowest, other.lowest), highest: max(highest, other.highest),
      energy: energy + other.energy)
  }

  /// The root mean square over `count` samples; 0 for none.
  @inlinable
  package func rms(of count: Int) -> Float {
    count > 0 ? (energy / Float(count)).squareRoot() : 0
  }
}

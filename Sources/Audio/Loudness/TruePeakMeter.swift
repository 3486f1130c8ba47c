/// Measures sample peak and true peak (4 × oversampled as in ITU-R BS.1770-4) over all channels.
///
/// Only groups that could exceed the current peak are interpolated, with the same result; after the
/// first seconds the cost is that of finding a maximum.
package final class TruePeakMeter: Analyser {
  /// The greatest peaks among all channels.
  package struct Finding: Hashable, Sendable, Codable {
    /// The peak of the wave between samples, in dBTP; nil for silence.
    package var truePeak: Decibels?
    /// The greatest |sample|, in dBFS; nil for silence.
    package var samplePeak: Decibels?

    package init(truePeak: Decibels?, samplePeak: Decibels?) {
      self.truePeak = truePeak
      self.samplePeak = samplePeak
    }
  }

  private static let group = TruePeakInterpolator.group
  private static let chunk = 1024
  /// A channel's row: the previous group, the current group, the next one, and room for a chunk.
  private static let row = 3 * group + chunk

  private let channelCount: Int
  private let interpolator = TruePeakInterpolator(factor: 4)
  private let rows: Scratch<Float>
  private let peaks = Scratch<Float>(repeating: 0, count: group)
  /// For each channel, the bounds of the previous and the current group.
  private var extents: [(GroupExtent, GroupExtent)]
  /// Frames filled in each row; initially two groups of silence before the sound.
  private var filled = 2 * group
  private var samplePeak: Float = 0
  private var truePeak: Float = 0

  package init(format: AudioFormat) {
    channelCount = format.channelCount
    rows = Scratch(repeating: 0, count: Self.row * channelCount)
    extents = Array(repeating: (GroupExtent(), GroupExtent()), count: channelCount)
  }

  package func analyse(_ input: borrowing AudioBuffer) {
    var start = 0
    while start < input.frameCount.count {
      let count = min(Self.row - filled, input.frameCount.count - start)
      for channel in 0..<channelCount {
        unsafe FiniteSamples.copy(
          from: input.baseAddress(ofChannel: channel) + start,
          to: rows.start + (channel * Self.row + filled), count: count)
      }
      filled += count
      start += count
      measureFilled()
    }
  }

  /// Measures every group with a complete successor and moves the rest to the front.
  private func measureFilled() {
    let end = filled / Self.group * Self.group
    guard end >= 3 * Self.group else { return }
    for channel in 0..<channelCount {
      let row = unsafe rows.start + channel * Self.row
      var (previous, current) = extents[channel]
      for start in stride(from: Self.group, through: end - 2 * Self.group, by: Self.group) {
        let next = unsafe GroupExtent(row + (start + Self.group))
        let samples = unsafe row + start
        samplePeak = max(samplePeak, next.peak)
        unsafe measure(samples, previous.union(current).union(next))
        (previous, current) = (current, next)
      }
      extents[channel] = (previous, current)
      let keep = end - 2 * Self.group
      unsafe row.update(from: row + keep, count: filled - keep)
    }
    filled -= end - 2 * Self.group
  }

  @inline(__always)
  private func measure(_ samples: UnsafePointer<Float>, _ extent: GroupExtent) {
    guard interpolator.bound(extent) > truePeak else { return }
    for index in 0..<Self.group { peaks[index] = 0 }
    unsafe interpolator.raise(peaks.start, by: samples)
    truePeak = unsafe max(truePeak, LinkedLevel.peak(peaks.start, count: Self.group))
  }

  /// The peaks of all sound; the stream must have ended, as silence is assumed to follow.
  package func finding() -> TruePeakMeter.Finding {
    // Completes the last group and the one after it.
    var silence = AudioBuffer(channelCount: channelCount, capacity: Frames(3 * Self.group))
    silence.frameCount = silence.capacity
    analyse(silence)
    return TruePeakMeter.Finding(
      truePeak: Decibels(finiteAmplitude: Double(truePeak)),
      samplePeak: Decibels(finiteAmplitude: Double(samplePeak)))
  }

  /// The peaks so far, and the pending frames.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(&filled, in: 2 * Self.group..<3 * Self.group)
    try coder.pass(&samplePeak)
    try coder.pass(&truePeak)
    for channel in 0..<channelCount {
      try coder.pass(&extents[channel].0)
      try coder.pass(&extents[channel].1)
      unsafe try coder.pass(samples: rows.start + channel * Self.row, count: filled)
    }
  }
}

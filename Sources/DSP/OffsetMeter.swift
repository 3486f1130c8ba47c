public import AudioModel

/// Measures the mean of each channel: its DC offset, where full scale is 1.
public final class OffsetMeter: Analyser {
  // One after the other, so that the sums do not depend on how the sound was cut.
  private var sums: [Double]
  private var frames = 0

  /// A meter that has heard nothing.
  public init(format: AudioFormat) { sums = Array(repeating: 0, count: format.channelCount) }

  /// Listens to the next block.
  public func analyse(_ input: borrowing AudioBuffer) {
    for channel in sums.indices {
      let samples = unsafe input.baseAddress(ofChannel: channel)
      var sum = sums[channel]
      for index in 0..<input.frameCount.count {
        sum += Double(unsafe FiniteSamples.filtered(samples[index]))
      }
      sums[channel] = sum
    }
    frames += input.frameCount.count
  }

  /// The mean of each channel; 0 before the first frame.
  public func finding() -> [Double] { sums.map { $0 / Double(max(frames, 1)) } }

  /// The sums.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(frames)
    snapshot.append(contentsOf: sums)
    return snapshot
  }

  /// Takes over the sums of a meter for the same format.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let frames = try reader.next(Int.self)
    let sums = try reader.next(Double.self, count: sums.count)
    try reader.finish()
    guard frames >= 0 else { throw SnapshotError() }
    (self.frames, self.sums) = (frames, sums)
  }
}

/// Subtracts a constant from each channel. The result is rounded once; a constant of 0 changes no
/// bit.
package final class OffsetRemover: Processor {
  package let outputFormat: AudioFormat

  private let offsets: [Double]

  /// Subtracts one offset from each channel; channels without one stay unchanged.
  package init(offsets: [Double], format: AudioFormat) {
    outputFormat = format
    self.offsets = (0..<format.channelCount).map {
      $0 < offsets.count && offsets[$0].isFinite ? offsets[$0] : 0
    }
  }

  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    FiniteSamples.copy(input, into: &output)
    for (channel, offset) in offsets.enumerated() where offset != 0 {
      let samples = unsafe output.baseAddress(ofChannel: channel)
      for index in 0..<output.frameCount.count {
        unsafe samples[index] = Float(Double(samples[index]) - offset)
      }
    }
  }

  /// Measures the DC offset (mean) of each channel; full scale is 1.
  package final class Meter: Analyser {
    // Sequential sums, which do not depend on block boundaries.
    private var sums: [Double]
    private var frames = 0

    package init(format: AudioFormat) { sums = Array(repeating: 0, count: format.channelCount) }

    package func analyse(_ input: borrowing AudioBuffer) {
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
    package func finding() -> [Double] { sums.map { $0 / Double(max(frames, 1)) } }

    /// The sums.
    package func code(_ coder: inout StateCoder) throws(SnapshotError) {
      try coder.pass(&frames, in: 0...)
      try coder.pass(&sums)
    }
  }
}

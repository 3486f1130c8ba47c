public import AudioModel

/// Subtracts a constant from each channel. The result is rounded once; a constant of 0 changes no
/// bit.
public final class OffsetRemover: Processor {
  /// What comes out: what goes in.
  public let outputFormat: AudioFormat
  /// Nothing is held back.
  public var latency: Frames { .zero }

  private let offsets: [Double]

  /// Subtracts one offset from each channel; where there are fewer of them, nothing from the rest.
  public init(offsets: [Double], format: AudioFormat) {
    outputFormat = format
    self.offsets = (0..<format.channelCount).map {
      $0 < offsets.count && offsets[$0].isFinite ? offsets[$0] : 0
    }
  }

  /// Moves a block.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    FiniteSamples.copy(input, into: &output)
    for (channel, offset) in offsets.enumerated() where offset != 0 {
      let samples = unsafe output.baseAddress(ofChannel: channel)
      for index in 0..<output.frameCount.count {
        unsafe samples[index] = Float(Double(samples[index]) - offset)
      }
    }
  }

  /// Gives nothing: nothing was held back.
  public func finish(into output: inout AudioBuffer) { output.frameCount = .zero }

  /// Empty: it remembers nothing.
  public var snapshot: ProcessorSnapshot { ProcessorSnapshot() }

  /// Accepts the empty state only.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    try SnapshotReader(snapshot).finish()
  }
}

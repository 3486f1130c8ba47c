public import AudioModel

/// Makes sound louder or softer by a fixed number of decibels; 0 dB leaves every bit as it is.
public final class Gain: Processor {
  /// What comes out: what goes in.
  public let outputFormat: AudioFormat
  /// Nothing is held back.
  public var latency: Frames { .zero }

  private let factor: Float

  /// A change by `gain`, taken within ±200 dB.
  public init(_ gain: Decibels, format: AudioFormat) {
    outputFormat = format
    factor = Float(Decibels(min(max(gain.value, -200), 200)).amplitude)
  }

  /// Scales a block.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    guard factor != 1 else { return FiniteSamples.copy(input, into: &output) }
    output.frameCount = input.frameCount
    for channel in 0..<input.channelCount {
      unsafe FiniteSamples.copy(
        from: input.baseAddress(ofChannel: channel), to: output.baseAddress(ofChannel: channel),
        count: input.frameCount.count, gain: factor)
    }
  }

  /// Gives nothing: nothing was held back.
  public func finish(into output: inout AudioBuffer) { output.frameCount = .zero }

  /// Empty: a gain remembers nothing.
  public var snapshot: ProcessorSnapshot { ProcessorSnapshot() }

  /// Accepts the empty state only.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    try SnapshotReader(snapshot).finish()
  }
}

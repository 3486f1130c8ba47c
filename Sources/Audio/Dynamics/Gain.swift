/// A fixed gain; 0 dB is bit-transparent.
package final class Gain: Processor {
  package let outputFormat: AudioFormat

  private let factor: Float

  /// `gain` is clamped to ±200 dB.
  package init(_ gain: Decibels, format: AudioFormat) {
    outputFormat = format
    factor = Float(Decibels(min(max(gain.value, -200), 200)).amplitude)
  }

  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    guard factor != 1 else { return FiniteSamples.copy(input, into: &output) }
    output.frameCount = input.frameCount
    for channel in 0..<input.channelCount {
      unsafe FiniteSamples.copy(
        from: input.baseAddress(ofChannel: channel), to: output.baseAddress(ofChannel: channel),
        count: input.frameCount.count, gain: factor)
    }
  }
}

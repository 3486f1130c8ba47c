public import AudioModel

/// Makes every channel that comes out from the channels that come in, each with a gain of its own:
/// mixing down, spreading, picking and swapping are all that.
///
/// A channel that is taken alone with the gain 1 comes through bit for bit.
public final class ChannelMatrix: Processor {
  /// What comes out: as many channels as the matrix has rows.
  public let outputFormat: AudioFormat
  /// Nothing is held back.
  public var latency: Frames { .zero }

  /// For each channel that comes out, what it is made of.
  private let parts: [[(channel: Int, gain: Float)]]

  /// A matrix of amplitude ratios: a row for each channel that comes out, and in it a gain for each
  /// channel of `format`. Gains are taken within ±1000, and those that are no numbers as 0.
  public init(_ gains: [[Double]], format: AudioFormat) {
    precondition(!gains.isEmpty && gains.allSatisfy { $0.count == format.channelCount })
    outputFormat = AudioFormat(sampleRate: format.sampleRate, channelCount: gains.count)
    parts = gains.map { row in
      row.enumerated().compactMap { channel, gain in
        let gain = gain.isFinite ? Float(min(max(gain, -1000), 1000)) : 0
        return gain == 0 ? nil : (channel, gain)
      }
    }
  }

  /// Mixes a block.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = input.frameCount
    let count = input.frameCount.count
    for (row, parts) in parts.enumerated() {
      let target = unsafe output.baseAddress(ofChannel: row)
      guard let first = parts.first else {
        unsafe target.update(repeating: 0, count: count)
        continue
      }
      unsafe FiniteSamples.copy(
        from: input.baseAddress(ofChannel: first.channel), to: target, count: count,
        gain: first.gain)
      for part in parts.dropFirst() {
        unsafe FiniteSamples.add(
          from: input.baseAddress(ofChannel: part.channel), to: target, count: count,
          gain: part.gain)
      }
    }
  }

  /// Gives nothing: nothing was held back.
  public func finish(into output: inout AudioBuffer) { output.frameCount = .zero }

  /// Empty: a matrix remembers nothing.
  public var snapshot: ProcessorSnapshot { ProcessorSnapshot() }

  /// Accepts the empty state only.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    try SnapshotReader(snapshot).finish()
  }
}

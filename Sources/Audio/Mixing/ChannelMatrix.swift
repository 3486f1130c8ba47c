/// Mixes input channels to output channels by a matrix of gains: downmix, upmix, selection or swap.
///
/// A channel taken alone with gain 1 passes bit-exactly.
package final class ChannelMatrix: Processor {
  package let outputFormat: AudioFormat

  /// The terms of each output channel.
  private let parts: [[(channel: Int, gain: Float)]]

  /// Amplitude ratios: a row per output channel with a gain for each channel of `format`. Gains are
  /// clamped to ±1000; NaN counts as 0.
  package init(_ gains: [[Double]], format: AudioFormat) {
    precondition(!gains.isEmpty && gains.allSatisfy { $0.count == format.channelCount })
    outputFormat = Self.format(after: gains, format)
    parts = gains.map { row in
      row.enumerated().compactMap { channel, gain in
        let gain = gain.isFinite ? Float(min(max(gain, -1000), 1000)) : 0
        return gain == 0 ? nil : (channel, gain)
      }
    }
  }

  /// The format of what comes out. Positions are kept where channels only pass, in their order.
  package static func format(after gains: [[Double]], _ format: AudioFormat) -> AudioFormat {
    let sources = gains.compactMap { row in
      let used = row.indices.filter { row[$0] != 0 }
      return used.count == 1 ? used[0] : nil
    }
    let known = format.positions.channels
    let arePassed =
      sources.count == gains.count && zip(sources, sources.dropFirst()).allSatisfy { $0 < $1 }
      && sources.allSatisfy(known.indices.contains)
    let isKept = arePassed && (gains.count > 2 || gains.count == format.channelCount)
    return AudioFormat(
      sampleRate: format.sampleRate, channelCount: gains.count,
      positions: isKept ? ChannelPositions(sources.map { known[$0] }) : nil)
  }

  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
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
}

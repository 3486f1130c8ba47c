/// Reduces sharp s-sounds within their band.
///
/// A band-pass measures the level; above the threshold, a bell of the same band is lowered by a
/// compressor's law (see `Compressor`). Below it, sound passes bit-exactly. All channels share one
/// bell.
package final class DeEsser: ReportingProcessor {
  package struct Settings: Hashable, Sendable, Codable {
    /// Lower edge of the band, 3 dB down.
    package var low: Hertz
    /// Upper edge of the band, 3 dB down.
    package var high: Hertz
    /// The level of the band, relative to full scale, above which it is lowered.
    package var threshold: Decibels
    /// dB of input per dB of output in the band, at least 1.
    package var ratio: Double
    /// The greatest reduction of the band.
    package var range: Decibels
    /// The time constant of a growing reduction, in dB.
    package var attack: Seconds
    /// The time constant of a shrinking reduction, in dB.
    package var release: Seconds

    package init(
      low: Hertz = Hertz(5000), high: Hertz = Hertz(9000), threshold: Decibels = Decibels(-30),
      ratio: Double = 4, range: Decibels = Decibels(12), attack: Seconds = Seconds(0.001),
      release: Seconds = Seconds(0.04)
    ) {
      self.low = low
      self.high = high
      self.threshold = threshold
      self.ratio = ratio
      self.range = range
      self.attack = attack
      self.release = release
    }
  }

  package let outputFormat: AudioFormat

  private static let chunk = 256
  private let filter: Equalizer
  private let curve: CompressionCurve
  private let smoothing: BranchingSmoother
  private let range: Float
  private let work = Scratch<Float>(repeating: 0, count: chunk)
  private var whole, band: AudioBuffer
  /// The reduction of the band after the last frame, in dB.
  private var reduction = 0.0
  private var statistics = ReductionStatistics()

  package init(_ settings: Settings, format: AudioFormat) {
    outputFormat = format
    let low = max(settings.low.value, 1)
    let high = max(settings.high.value, low * 1.01)
    let centre = (low * high).squareRoot()
    filter = Equalizer(
      filters: [
        BiquadCoefficients(
          bandPass: Hertz(centre), q: centre / (high - low), sampleRate: format.sampleRate)
      ], format: format)
    curve = CompressionCurve(
      threshold: settings.threshold, ratio: settings.ratio, knee: Decibels(6))
    smoothing = BranchingSmoother(
      attack: settings.attack.step(at: format.sampleRate),
      release: settings.release.step(at: format.sampleRate))
    range = Float(min(max(settings.range.value, 0), 120))
    whole = AudioBuffer(channelCount: format.channelCount, capacity: Frames(Self.chunk))
    band = AudioBuffer(channelCount: format.channelCount, capacity: Frames(Self.chunk))
  }

  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    FiniteSamples.copy(input, into: &output)
    let end = output.frameCount.count
    for start in stride(from: 0, to: end, by: Self.chunk) {
      let count = min(Self.chunk, end - start)
      whole.copy(from: output, start: Frames(start), count: Frames(count))
      filter.process(whole, into: &band)
      let values = unsafe work.start
      unsafe LinkedLevel.measure(band, start: 0, count: count, into: values)
      unsafe curve.replaceLevelsByReductions(values, count: count)
      for index in 0..<count { unsafe values[index] = LinkedLevel.lesser(values[index], range) }
      reduction = unsafe smoothing.smooth(
        values, count: count, from: reduction, counting: &statistics)
      // A reduction this small changes no sample.
      guard unsafe LinkedLevel.peak(values, count: count) > 1e-8 else { continue }
      unsafe CompressionCurve.replaceReductionsByLosses(values, count: count)
      for channel in 0..<outputFormat.channelCount {
        let samples = unsafe output.baseAddress(ofChannel: channel) + start
        let part = unsafe band.baseAddress(ofChannel: channel)
        for index in 0..<count { unsafe samples[index] -= part[index] * values[index] }
      }
    }
  }

  /// The reduction of the band.
  package func report() -> GainReduction { statistics.figures }

  /// The reduction, what was counted, and the filter's state.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(&reduction)
    try coder.pass(&statistics)
    try coder.pass(part: filter)
  }
}

public import AudioModel

/// Turns sharp s-sounds down, and only the band they lie in.
///
/// A band-pass listens; where its level passes the threshold, a bell of the same band is lowered
/// by a compressor's law (see `Compressor`). While nothing is too sharp, every bit stays as it is.
/// All channels get the same bell.
public final class DeEsser: ReportingProcessor {
  /// How a de-esser behaves.
  public struct Settings: Hashable, Sendable {
    /// Where the band begins, 3 dB down.
    public var low: Hertz
    /// Where the band ends, 3 dB down.
    public var high: Hertz
    /// The level of the band, relative to full scale, from which it is lowered.
    public var threshold: Decibels
    /// How many dB more in the band give one more at the output, at least 1.
    public var ratio: Double
    /// How far the band is lowered at most.
    public var range: Decibels
    /// The time constant with which the band is lowered, in dB.
    public var attack: Seconds
    /// The time constant with which it comes back, in dB.
    public var release: Seconds

    /// Describes a de-esser.
    public init(
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

  /// What comes out: what goes in.
  public let outputFormat: AudioFormat
  /// Nothing is held back.
  public var latency: Frames { .zero }

  private static let chunk = 256
  private let filter: Equalizer
  private let curve: CompressionCurve
  private let smoothing: BranchingSmoother
  private let range: Float
  private let work = Scratch<Float>(repeating: 0, count: chunk)
  private var whole, band: AudioBuffer
  /// How far the band is lowered after the last frame, in dB.
  private var reduction = 0.0
  private var statistics = ReductionStatistics()

  /// A de-esser at rest. A band that lies above half the sample rate ends there.
  public init(_ settings: Settings, format: AudioFormat) {
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
      attack: TimeConstant.step(settings.attack, at: format.sampleRate),
      release: TimeConstant.step(settings.release, at: format.sampleRate))
    range = Float(min(max(settings.range.value, 0), 120))
    whole = AudioBuffer(channelCount: format.channelCount, capacity: Frames(Self.chunk))
    band = AudioBuffer(channelCount: format.channelCount, capacity: Frames(Self.chunk))
  }

  /// De-esses a block.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
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
      // So small a reduction changes no sample.
      guard unsafe LinkedLevel.peak(values, count: count) > 1e-8 else { continue }
      unsafe CompressionCurve.replaceReductionsByLosses(values, count: count)
      for channel in 0..<outputFormat.channelCount {
        let samples = unsafe output.baseAddress(ofChannel: channel) + start
        let part = unsafe band.baseAddress(ofChannel: channel)
        for index in 0..<count { unsafe samples[index] -= part[index] * values[index] }
      }
    }
  }

  /// Gives nothing: nothing was held back.
  public func finish(into output: inout AudioBuffer) { output.frameCount = .zero }

  /// How far the band was lowered.
  public func report() -> GainReduction { statistics.figures }

  /// The reduction, what was counted, and the filter's state.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(reduction)
    snapshot.append(statistics)
    snapshot.append(filter.snapshot)
    return snapshot
  }

  /// Takes over the state of a de-esser with the same settings.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let reduction = try reader.next(Double.self)
    let statistics = try reader.next(ReductionStatistics.self)
    let part = try reader.nextPart()
    try reader.finish()
    try filter.restore(part)
    (self.reduction, self.statistics) = (reduction, statistics)
  }
}

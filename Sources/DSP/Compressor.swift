public import AudioModel

/// Makes loud passages quieter by a ratio, with a soft knee.
///
/// The design is the feed-forward compressor of Giannoulis, Massberg and Reiss, "Digital Dynamic
/// Range Compressor Design" (JAES 60, 2012): the level of each frame goes through the static curve
/// in decibels, and the resulting gain reduction through a smooth branching detector. Below the
/// knee, with no make-up gain, it is bit-transparent.
///
/// The level that peaks make is the greatest magnitude of the last 10 ms, L[n] = max |x[n − k]| for
/// 0 ≤ k < 10 ms. Of a steady sine from 50 Hz on that is its amplitude, so that its gain stands
/// still on the static curve, with no ripple to distort it, whatever attack and release are; the
/// attack begins with the peak, the release 10 ms behind it. Only a tone above a twentieth of the
/// sample rate whose period is a few whole frames can keep its crests between the samples, and
/// then counts for what its samples reach.
public final class Compressor: ReportingProcessor {
  /// How a compressor behaves.
  public struct Settings: Hashable, Sendable {
    /// The level, relative to full scale, from which the gain is reduced.
    public var threshold: Decibels
    /// How many decibels more at the input give one more at the output, at least 1; infinite for
    /// none at all.
    public var ratio: Double
    /// The width of the bend around the threshold, half on each side; 0 is a hard corner.
    public var knee: Decibels
    /// The time constant with which the reduction, in dB, grows; none follows at once.
    public var attack: Seconds
    /// The time constant with which the reduction, in dB, shrinks; none follows at once. Peaks
    /// are held for 10 ms before.
    public var release: Seconds
    /// A fixed gain of what was compressed; taken within ±200 dB.
    public var makeUp: Decibels
    /// How much of the result is compressed; the rest is as it came. Taken within 0…1.
    public var mix: Double
    /// What it listens to.
    public var sidechain: Sidechain

    /// Describes a compressor.
    public init(
      threshold: Decibels, ratio: Double, knee: Decibels, attack: Seconds, release: Seconds,
      makeUp: Decibels = Decibels(0), mix: Double = 1, sidechain: Sidechain = Sidechain()
    ) {
      self.threshold = threshold
      self.ratio = ratio
      self.knee = knee
      self.attack = attack
      self.release = release
      self.makeUp = makeUp
      self.mix = mix
      self.sidechain = sidechain
    }
  }

  /// What comes out: what goes in.
  public let outputFormat: AudioFormat
  /// The look-ahead.
  public var latency: Frames { Frames(gain.delay) }

  private let gain: LevelDrivenGain<CompressorLaw>

  /// A compressor at rest.
  public init(_ settings: Settings, format: AudioFormat) {
    outputFormat = format
    gain = LevelDrivenGain(
      CompressorLaw(settings, sampleRate: format.sampleRate), settings.sidechain,
      holdsPeaks: true, format: format)
  }

  /// Compresses a block.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    gain.process(input, into: &output)
  }

  /// Gives what was held back.
  public func finish(into output: inout AudioBuffer) { gain.finish(into: &output) }

  /// How far the compressed sound was turned down, make-up gain and mix left aside.
  public func report() -> GainReduction {
    gain.lanes.reduce(ReductionStatistics()) { $0.joined($1.statistics) }.figures
  }

  /// The gain reduction, the detector's state, what was counted, and the frames held back.
  public var snapshot: ProcessorSnapshot { gain.snapshot }

  /// Takes over the state of a compressor with the same settings.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    try gain.restore(snapshot)
  }
}

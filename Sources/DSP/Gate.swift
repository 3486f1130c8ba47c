public import AudioModel

/// Turns the sound down while nobody speaks: it opens when the level reaches the threshold, stays
/// open for the hold time after the last such frame, and closes to the range.
///
/// The gain, as an amplitude ratio, approaches its goal exponentially with attack and release as
/// time constants; a closing gate thus falls by 8.7 dB each release time until it nears the range.
/// An open gate is bit-transparent.
///
/// A wave passes through zero twice a period, which is no reason to close: where peaks count, the
/// hold time is at least half a period of 50 Hz, so that any steady tone from there on, whose crests
/// reach the threshold, opens the gate for good.
public final class Gate: ReportingProcessor {
  /// How a gate behaves.
  public struct Settings: Hashable, Sendable {
    /// The level, relative to full scale, that opens the gate.
    public var threshold: Decibels
    /// The time constant of opening; none opens at once.
    public var attack: Seconds
    /// How long the gate stays open after the last frame at the threshold; taken within 0…1 h, and
    /// from 10 ms on where peaks count.
    public var hold: Seconds
    /// The time constant of closing; none closes at once.
    public var release: Seconds
    /// The gain of the closed gate, negative; taken within −200…0 dB.
    public var range: Decibels
    /// What it listens to.
    public var sidechain: Sidechain

    /// Describes a gate.
    public init(
      threshold: Decibels, attack: Seconds, hold: Seconds, release: Seconds,
      range: Decibels = Decibels(-80), sidechain: Sidechain = Sidechain()
    ) {
      self.threshold = threshold
      self.attack = attack
      self.hold = hold
      self.release = release
      self.range = range
      self.sidechain = sidechain
    }
  }

  /// What a gate did.
  public struct Report: Hashable, Sendable, Codable {
    /// For what share of the time the level, or the hold time behind it, held the gate open; 0…1.
    public var openShare: Double
    /// How far the sound was turned down.
    public var reduction: GainReduction
  }

  /// What comes out: what goes in.
  public let outputFormat: AudioFormat
  /// The look-ahead.
  public var latency: Frames { Frames(gain.delay) }

  private let gain: LevelDrivenGain<GateLaw>

  /// A closed gate.
  public init(_ settings: Settings, format: AudioFormat) {
    outputFormat = format
    let delay = settings.sidechain.lookAheadFrames(at: format.sampleRate)
    gain = LevelDrivenGain(
      GateLaw(settings, delay: delay, sampleRate: format.sampleRate), settings.sidechain,
      holdsPeaks: false, format: format)
  }

  /// Gates a block.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    gain.process(input, into: &output)
  }

  /// Gives what was held back.
  public func finish(into output: inout AudioBuffer) { gain.finish(into: &output) }

  /// How long it was open, and how far it turned down.
  public func report() -> Report {
    var reduction = ReductionStatistics()
    var (open, frames) = (0, 0)
    for lane in gain.lanes {
      reduction = reduction.joined(lane.statistics.reduction(range: lane.range))
      open += lane.statistics.open
      frames += lane.statistics.frames
    }
    return Report(
      openShare: Double(open) / Double(max(frames, 1)), reduction: reduction.figures)
  }

  /// The gain, what is left of the hold time, the detector's state, what was counted, and the
  /// frames held back.
  public var snapshot: ProcessorSnapshot { gain.snapshot }

  /// Takes over the state of a gate with the same settings.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    try gain.restore(snapshot)
  }
}

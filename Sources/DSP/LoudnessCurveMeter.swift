public import AudioModel

/// Measures loudness over time.
public final class LoudnessCurveMeter: Analyser {
  private let meter: LoudnessMeter
  private let sampleRate: Hertz

  /// A meter for sound of `format`.
  public init(format: AudioFormat) {
    meter = LoudnessMeter(format: format, includesPeaks: false)
    sampleRate = format.sampleRate
  }

  /// Listens to the next block.
  public func analyse(_ input: borrowing AudioBuffer) { meter.analyse(input) }

  /// The curve of everything heard in full steps.
  public func finding() -> LoudnessCurve {
    LoudnessCurve(meter.history, sampleRate: sampleRate)
  }

  /// The state of the measurement; 8 bytes for every tenth of a second.
  public var snapshot: ProcessorSnapshot { meter.snapshot }

  /// Takes over the state of a meter for the same format.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    try meter.restore(snapshot)
  }
}

public import AudioModel

/// Measures integrated loudness (EBU R 128, by libebur128), sample peak and true peak.
public final class LoudnessMeter: Analyser {
  private let loudness: R128
  private let peaks: TruePeakMeter

  /// A meter for sound of `format`.
  public init(format: AudioFormat) {
    loudness = R128(.integrated, format: format)
    peaks = TruePeakMeter(format: format)
  }

  /// Listens to the next block.
  public func analyse(_ input: borrowing AudioBuffer) {
    loudness.add(input)
    peaks.analyse(input)
  }

  /// The loudness of everything heard.
  public func finding() -> Loudness {
    Loudness(integrated: loudness.integrated(), peaks: peaks.finding())
  }
}

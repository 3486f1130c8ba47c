public import AudioModel

/// Measures integrated loudness (EBU R 128, by libebur128), sample peak and true peak.
public final class LoudnessMeter: Analyser {
  private let loudness: R128
  private let peaks: TruePeakMeter?

  /// A meter for sound of `format`; one that leaves the peaks out takes a fifth less time.
  public init(format: AudioFormat, includesPeaks: Bool = true) {
    loudness = R128(.integrated, format: format)
    peaks = includesPeaks ? TruePeakMeter(format: format) : nil
  }

  /// Listens to the next block.
  public func analyse(_ input: borrowing AudioBuffer) {
    loudness.add(input)
    peaks?.analyse(input)
  }

  /// The loudness of everything heard.
  public func finding() -> Loudness {
    Loudness(
      integrated: loudness.integrated(),
      peaks: peaks?.finding() ?? PeakLevels(truePeak: nil, samplePeak: nil))
  }
}

public import AudioModel

/// Measures integrated loudness (EBU R 128), sample peak and true peak.
public final class LoudnessMeter: Analyser {
  private let loudness: R128
  private let peaks: TruePeakMeter?

  /// A meter for sound of `format`; one that leaves the peaks out takes half the time.
  public init(format: AudioFormat, includesPeaks: Bool = true) {
    loudness = R128(format: format)
    peaks = includesPeaks ? TruePeakMeter(format: format) : nil
  }

  /// How loud every tenth of a second was that has been heard in full.
  public var history: LoudnessHistory { loudness.history }

  /// Listens to the next block.
  public func analyse(_ input: borrowing AudioBuffer) {
    loudness.add(input)
    peaks?.analyse(input)
  }

  /// The loudness of everything heard.
  public func finding() -> Loudness {
    Loudness(
      integrated: history.integrated(),
      peaks: peaks?.finding() ?? PeakLevels(truePeak: nil, samplePeak: nil))
  }

  /// The states of both measurements; 8 bytes for every tenth of a second, and a few kilobytes.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(loudness.snapshot)
    if let peaks { snapshot.append(peaks.snapshot) }
    return snapshot
  }

  /// Takes over the state of a meter for the same format and figures.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let loudness = try reader.nextPart()
    let peaks = self.peaks == nil ? nil : try reader.nextPart()
    try reader.finish()
    try self.loudness.restore(loudness)
    if let peaks { try self.peaks?.restore(peaks) }
  }
}

/// Measures integrated loudness (EBU R 128), sample peak and true peak.
package final class LoudnessMeter: Analyser {
  private let loudness: R128
  private let peaks: TruePeakMeter?

  /// Without peaks it takes half the time.
  /// - Parameter isDualMono: whether the loudness of one channel is that of two speakers.
  package init(format: AudioFormat, includesPeaks: Bool = true, isDualMono: Bool = false) {
    loudness = R128(format: format, isDualMono: isDualMono)
    peaks = includesPeaks ? TruePeakMeter(format: format) : nil
  }

  /// The energies of all complete steps.
  package var history: LoudnessHistory { loudness.history }

  package func analyse(_ input: borrowing AudioBuffer) {
    loudness.add(input)
    peaks?.analyse(input)
  }

  package func finding() -> Finding {
    Finding(
      history: history,
      peaks: peaks?.finding() ?? TruePeakMeter.Finding(truePeak: nil, samplePeak: nil))
  }

  /// The states of both measurements; 8 bytes for every tenth of a second, and a few kilobytes.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(part: loudness)
    if let peaks { try coder.pass(part: peaks) }
  }

  /// Integrated loudness and peaks: the input of normalisation.
  package struct Finding: Hashable, Sendable, Codable {
    /// The energies of all complete steps.
    package var history: LoudnessHistory
    /// The integrated loudness of EBU R 128; nil for silence and for less than 400 ms of sound.
    package var integrated: LUFS? { history.integrated() }
    /// Sample peak and true peak.
    package var peaks: TruePeakMeter.Finding
  }
}

extension Decibels {
  /// The level of an amplitude; nil for zero, whose level JSON cannot express.
  init?(finiteAmplitude amplitude: Double) {
    guard amplitude > 0, amplitude.isFinite else { return nil }
    self.init(amplitude: amplitude)
  }
}

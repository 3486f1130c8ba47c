public import AudioModel

/// How loud a stretch of sound is, and how high it peaks: what normalising needs to know.
public struct Loudness: Hashable, Sendable, Codable {
  /// The integrated loudness of EBU R 128; nil for silence and for less than 400 ms of sound.
  public var integrated: LUFS?
  /// Sample peak and true peak.
  public var peaks: PeakLevels

  /// Wraps a measurement.
  public init(integrated: LUFS?, peaks: PeakLevels) {
    self.integrated = integrated
    self.peaks = peaks
  }
}

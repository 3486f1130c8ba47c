public import AudioModel

/// What the noise of a recording is like: its mean power spectrum in each channel, learnt where
/// the recording is quietest.
public struct NoiseProfile: Hashable, Sendable, Codable {
  /// For each channel, the mean squared magnitude of each bin of a windowed piece.
  public var spectra: [[Float]]
  /// The level of the noise, RMS over all channels.
  public var level: Decibels
  /// Where in the recording it was learnt.
  public var start: Seconds

  /// Wraps a profile.
  public init(spectra: [[Float]], level: Decibels, start: Seconds) {
    self.spectra = spectra
    self.level = level
    self.start = start
  }
}

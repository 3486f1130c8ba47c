public import AudioModel

/// What a gate or a compressor listens to, and how: as it comes, every sample of all channels.
public struct Sidechain: Hashable, Sendable {
  /// What counts as the level of a channel.
  public enum Detector: Hashable, Sendable {
    /// The greatest magnitude of the last 10 ms, half a period of 50 Hz: of a tone, its amplitude.
    case peak
    /// The root of the mean square, weighted so that what is older counts less by 1/e for every
    /// `window`; a sine of amplitude 1 has −3.01 dB. No window makes it the magnitude of
    /// each sample.
    case rms(window: Seconds)
  }

  /// What counts as the level.
  public var detector: Detector
  /// The corner of a second-order high-pass in front of the detector, against rumble and plosives;
  /// nil for none. The sound itself does not go through it.
  public var highPass: Hertz?
  /// How much of the loudest channel every channel listens to, taken within 0…1: 1 for one gain
  /// for all, which keeps the stereo picture still; 0 for channels that go their own ways. Between
  /// them, the level of a channel lies so far between its own and the loudest, as amplitudes.
  public var link: Double
  /// How long before its cause the gain moves, taken within 0…100 ms. The sound is held back for
  /// so long.
  public var lookAhead: Seconds

  /// Describes a side chain.
  public init(
    _ detector: Detector = .peak, highPass: Hertz? = nil, link: Double = 1,
    lookAhead: Seconds = Seconds(0)
  ) {
    self.detector = detector
    self.highPass = highPass
    self.link = link
    self.lookAhead = lookAhead
  }

  /// The look-ahead in whole frames.
  func lookAheadFrames(at sampleRate: Hertz) -> Int {
    Seconds(min(max(lookAhead.value, 0), 0.1)).frames(at: sampleRate).count
  }
}

public import AudioModel

/// What can be said about the level of a stretch of sound. No field is ever infinite or not a
/// number: what silence has no figure for is nil.
public struct Levels: Hashable, Sendable, Codable {
  /// How many frames were heard.
  public var frames: Frames
  /// How long they last.
  public var duration: Seconds
  /// The integrated loudness of EBU R 128; nil for silence and for less than 400 ms of sound.
  public var integratedLoudness: LUFS?
  /// The loudness range of EBU Tech 3342, in LU; nil where there is no integrated loudness.
  public var loudnessRange: Decibels?
  /// The loudest momentary loudness, over 400 ms (EBU Tech 3341); nil where there is none.
  public var maximumMomentary: LUFS?
  /// The loudest short-term loudness, over 3 s (EBU Tech 3341); nil where there is none.
  public var maximumShortTerm: LUFS?
  /// The peak of the wave between samples, in dBTP; nil for silence.
  public var truePeak: Decibels?
  /// The greatest |sample|, in dBFS; nil for silence.
  public var samplePeak: Decibels?
  /// The root mean square over all samples of all channels, in dB relative to a sample of 1 (a
  /// full-scale sine has −3.01); nil for silence.
  public var rms: Decibels?
  /// The mean of each channel's samples; full scale is 1.
  public var offsets: [Double]
  /// How many samples are clipped: part of a run of two or more in one channel that reach full
  /// scale, 32767/32768, the greatest value that 16 bits hold.
  public var clippedSamples: Int

  /// Wraps a measurement.
  public init(
    frames: Frames, duration: Seconds, integratedLoudness: LUFS?, loudnessRange: Decibels?,
    maximumMomentary: LUFS?, maximumShortTerm: LUFS?, truePeak: Decibels?,
    samplePeak: Decibels?, rms: Decibels?, offsets: [Double], clippedSamples: Int
  ) {
    self.frames = frames
    self.duration = duration
    self.integratedLoudness = integratedLoudness
    self.loudnessRange = loudnessRange
    self.maximumMomentary = maximumMomentary
    self.maximumShortTerm = maximumShortTerm
    self.truePeak = truePeak
    self.samplePeak = samplePeak
    self.rms = rms
    self.offsets = offsets
    self.clippedSamples = clippedSamples
  }
}

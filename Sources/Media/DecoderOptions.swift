public import AudioModel

/// How a recording is to be decoded.
public struct DecoderOptions: Hashable, Sendable {
  /// The rate to convert to; nil keeps the recording's own.
  public var sampleRate: Hertz?
  /// The channels to mix to; nil keeps the recording's own.
  public var channelCount: Int?
  /// Which stream of the container, from 0; nil chooses the best sound.
  public var stream: Int?
  /// Whether decoding goes on after damage, with silence in place of what was lost; else the first
  /// damage is an error.
  public var keepsDamaged: Bool

  /// Everything as the recording has it, and damage is an error.
  public init(
    sampleRate: Hertz? = nil, channelCount: Int? = nil, stream: Int? = nil,
    keepsDamaged: Bool = false
  ) {
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.stream = stream
    self.keepsDamaged = keepsDamaged
  }
}

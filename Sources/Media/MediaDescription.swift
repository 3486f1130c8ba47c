public import AudioModel

/// What is known about a recording without decoding it.
public struct MediaDescription: Hashable, Sendable {
  /// The container's short names as libavformat has them, such as `mov,mp4,m4a,3gp,3g2,mj2`.
  public let container: String
  /// How long the recording is; nil when the container does not say.
  public let duration: Seconds?
  /// The same as a plain number, for whoever knows nothing of sound.
  public var durationInSeconds: Double? { duration?.value }
  /// Which stream of the container is the sound, from 0.
  public let stream: Int
  /// The sound's codec, such as `aac`.
  public let codec: String
  /// The sound's rate and channels.
  public let format: AudioFormat
  /// Bits in a sample of linear or lossless sound; nil for codecs that have no such thing.
  public let bitDepth: Int?
  /// Bits a second of the sound stream; nil when unknown.
  public let bitRate: Int?
  /// How many frames the container says there are; nil when it does not say.
  public let expectedFrames: Frames?
  /// Every tag of the container and the sound stream, names in lower case; where both have one,
  /// the container's.
  public let tags: [String: String]
  /// Whether there is a cover picture: `MediaProbe.coverArt(of:)` reads it.
  public let hasCoverArt: Bool
}

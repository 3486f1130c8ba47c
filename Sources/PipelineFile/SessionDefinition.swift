public import PipelineModel

/// A mixing session: which files are mixed, and how the mixer stands.
public struct SessionDefinition: Hashable, Sendable {
  /// One channel of the mixer.
  public struct Channel: Hashable, Sendable {
    /// Where it stands in the session.
    public let location: SourceLocation?
    /// Its track's file, as written; nil where the track comes from elsewhere: from an earlier step,
    /// or from whoever gives the tracks beside the session.
    public var file: Located<String>?
    /// What people call it.
    public var name: String?
    /// Its fader, 0 … 1.5.
    public var volume = 1.0
    /// A gain before the fader, in dB.
    public var gain = 0.0
    /// From −1, left, to +1, right.
    public var pan = 0.0
    /// Whether it is not to be heard.
    public var isMuted = false
    /// Whether only this one, and others like it, are to be heard.
    public var isSoloed = false
    /// Whether somebody talks or sings in it.
    public var isVoice = false
    /// Where its track begins.
    public var offset = TrackOffset.frames(0)

    /// A channel with its fader at 1.
    public init(at location: SourceLocation? = nil) { self.location = location }
  }

  /// The fader of the sum, 0 … 1.5.
  public var masterVolume = 1.0
  /// Frames a second of the mix; nil means those of the first track.
  public var sampleRate: Double?
  /// The channels, in order.
  public var channels: [Channel] = []

  /// A session without channels.
  public init() {}

  /// The paths of the channels' files, those that are not absolute taken from `folder`, with the
  /// places where they are named.
  public func files(from folder: String) -> [Located<String>] {
    channels.compactMap { channel in
      channel.file.map { file in
        Located(
          file.value.hasPrefix("/") ? file.value : folder + "/" + file.value, at: file.location)
      }
    }
  }
}

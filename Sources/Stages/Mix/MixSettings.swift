import Audio
import PipelineModel

/// How a mixer stands as a whole.
struct MixSettings: Sendable {
  /// One track that gives way to another.
  struct Duck: Sendable {
    /// The name or the number of the track that is turned down.
    let track: String
    /// The name or the number of the track that is listened to.
    let by: String
    /// When, how far and how fast.
    let gain: DuckingGain.Settings
    /// How long before its cause the gain moves.
    let lookAhead: Seconds
  }

  /// The channels, in the order of the tracks; tracks beyond them have their faders at 1.
  var tracks: [MixTrack]
  /// The fader of the sum.
  var masterVolume: Double
  /// The rate of the mix; nil means that of the first track.
  var sampleRate: Hertz?
  /// Channels of the mix, 1 or 2.
  let channelCount: Int
  /// How loud mono tracks are in the middle.
  let panLaw: PanLaw
  /// Which tracks give way to which.
  let ducks: [Duck]
  /// The loudness that voices are brought to; nil leaves them as they are.
  let match: LUFS?
  /// The true peak that the mix is turned down to; nil leaves it as it is.
  let ceiling: Decibels?
  /// The only track that is given, counted from 1; nil gives the sum.
  let stem: Int?
  /// Whether all tracks are given side by side, each as it is in the mix, in place of their sum.
  let givesStems: Bool
}

extension MixSettings {
  /// Takes the channels from a session; its master fader and the stage's follow each other.
  mutating func take(_ session: SessionDefinition) {
    tracks = session.channels.map { MixTrack($0) }
    masterVolume *= session.masterVolume
    sampleRate = sampleRate ?? session.sampleRate.map { Hertz($0) }
  }
}

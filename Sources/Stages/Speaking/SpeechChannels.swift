import AudioModel
import PipelineModel
import Speech

/// The channels of a recording as they are listened to: all as one, or each by itself, for
/// recordings with a speaker on every side.
struct SpeechChannels {
  /// What is listened to, in the order of the channels.
  let readers: [SpeechReader]
  /// What is known of each.
  let surveys: [SpeechSurvey]

  /// Looks at the sound of each channel that is to be listened to.
  init(of sound: KeptSound, isSeparate: Bool, _ stop: StopRequest) throws(StageError) {
    let count = sound.outline.format.channelCount
    readers =
      isSeparate && count > 1
      ? (0..<count).map { SpeechReader(sound, channel: $0) } : [SpeechReader(sound)]
    var surveys: [SpeechSurvey] = []
    for reader in readers {
      surveys.append(try reader.survey { () throws(StageError) in try stop.check() })
    }
    self.surveys = surveys
  }

  /// Where somebody speaks, in seconds, on any channel.
  var speech: [Range<Double>] { surveys.flatMap { $0.activity.stretches.seconds } }

  /// What whoever speaks on a channel is called; nil where there is but one.
  func speaker(_ channel: Int) -> String? {
    switch readers.count {
    case 1: nil
    case 2: channel == 0 ? "left" : "right"
    default: "channel \(channel + 1)"
    }
  }
}

import AudioModel
import PipelineModel
import Speech
import Transcripts

/// The channels of a recording, recognised as one or each by itself.
struct RecognisedChannels {
  /// How far each channel is.
  struct Progress: SpeechProgress {
    var channels: [RecognitionProgress]

    var share: Double { channels.reduce(0) { $0 + $1.share } / Double(max(1, channels.count)) }
  }

  private let readers: [SpeechReader]
  private let surveys: [SpeechSurvey]

  /// Where somebody speaks, in seconds, on any channel.
  var speech: [Range<Double>] { surveys.flatMap { $0.activity.stretches.seconds } }

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

  /// The words of each channel.
  func recognise(
    with recognition: Recognition, from last: Progress?,
    note: (Progress) throws(SpeechError) -> Void
  ) throws(SpeechError) -> [[SaidWord]] {
    var progress =
      last?.channels.count == readers.count
      ? last ?? Progress(channels: [])
      : Progress(channels: readers.map { _ in RecognitionProgress() })
    var words: [[SaidWord]] = []
    for (number, reader) in readers.enumerated() {
      words.append(
        try recognition.recognise(
          in: reader, surveys[number].trace, speech: surveys[number].activity.stretches,
          from: progress.channels[number]
        ) { (own) throws(SpeechError) in
          progress.channels[number] = own
          try note(progress)
        })
    }
    return words
  }

  /// The words as one transcript, in the order in which people begin to speak.
  func transcript(of words: [[SaidWord]], language: String?) -> Transcript {
    var transcript = Transcript(language: language)
    for (number, words) in words.enumerated() {
      transcript.segments +=
        Transcript(recognised: words, language: language, speaker: speaker(number)).segments
    }
    // The sort is stable where the beginnings are: equal ones stay in the order of the channels.
    transcript.segments = transcript.segments.enumerated().sorted {
      ($0.element.start ?? 0, $0.offset) < ($1.element.start ?? 0, $1.offset)
    }.map(\.element)
    return transcript
  }

  private func speaker(_ channel: Int) -> String? {
    switch readers.count {
    case 1: nil
    case 2: channel == 0 ? "left" : "right"
    default: "channel \(channel + 1)"
    }
  }
}

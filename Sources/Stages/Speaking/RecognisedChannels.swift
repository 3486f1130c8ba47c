import Speech
import Transcripts

/// The channels of a recording, recognised as one or each by itself.
struct RecognisedChannels {
  /// How far each channel is.
  struct Progress: SpeechProgress {
    var channels: [RecognitionProgress]

    var share: Double { channels.reduce(0) { $0 + $1.share } / Double(max(1, channels.count)) }
  }

  private let channels: SpeechChannels

  init(_ channels: SpeechChannels) { self.channels = channels }

  /// The words of each channel.
  func recognise(
    with recognition: Recognition, from last: Progress?,
    note: (Progress) throws(SpeechError) -> Void
  ) throws(SpeechError) -> [[SaidWord]] {
    let readers = channels.readers
    var progress =
      last?.channels.count == readers.count
      ? last ?? Progress(channels: [])
      : Progress(channels: readers.map { _ in RecognitionProgress() })
    var words: [[SaidWord]] = []
    for (number, (reader, survey)) in zip(readers, channels.surveys).enumerated() {
      words.append(
        try recognition.recognise(
          in: reader, survey.trace, speech: survey.activity.stretches,
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
        Transcript(recognised: words, language: language, speaker: channels.speaker(number))
        .segments
    }
    // The sort is stable where the beginnings are: equal ones stay in the order of the channels.
    transcript.segments = transcript.segments.enumerated().sorted {
      ($0.element.start ?? 0, $0.offset) < ($1.element.start ?? 0, $1.offset)
    }.map(\.element)
    return transcript
  }
}

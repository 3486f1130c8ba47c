import AudioModel
import PipelineModel
import Speech
import Transcripts

/// The words of a text, found in all channels of a recording as one, or each speaker's on his own
/// side.
///
/// Who is on which side is heard in the sound of all channels together; then each side is listened
/// to for its own words, so that two people may speak at once.
struct AlignedChannels {
  /// How far the whole, and then each side, is.
  struct Progress: SpeechProgress {
    var whole = AlignmentProgress()
    var sides: [AlignmentProgress] = []

    var share: Double {
      if sides.isEmpty { return whole.share }
      return (whole.share + sides.reduce(0) { $0 + $1.share } / Double(sides.count)) / 2
    }
  }

  /// What was found.
  struct Outcome {
    /// The words with their times.
    var transcript: Transcript
    /// The share of the spoken words that were heard: 0 to 1.
    var share: Double
    /// How many words were heard that the text does not have.
    var extraWordCount: Int
    /// What the sides of the text's speakers are called; empty where all channels are one.
    var sides: [String: String] = [:]
  }

  private let whole: SpeechChannels
  /// Each channel by itself; nil where they are one.
  private let sides: SpeechChannels?

  /// Looks at the sound.
  init(of sound: KeptSound, isSeparate: Bool, _ stop: StopRequest) throws(StageError) {
    whole = try SpeechChannels(of: sound, isSeparate: false, stop)
    let isDivided = isSeparate && sound.outline.format.channelCount > 1
    sides = isDivided ? try SpeechChannels(of: sound, isSeparate: true, stop) : nil
  }

  /// Whether each channel is listened to by itself.
  var isDivided: Bool { sides != nil }

  /// All channels as one.
  var reader: SpeechReader { whole.readers[0] }

  /// Where somebody speaks, in seconds, on any channel.
  var speech: [Range<Double>] { (sides ?? whole).speech }

  /// Finds the words of a text.
  /// - Parameters:
  ///   - transcript: the text.
  ///   - words: its words as they are spoken.
  ///   - engine: what listens.
  ///   - last: what earlier work noted.
  ///   - note: takes notes of the progress; ends the work by throwing.
  func align(
    _ transcript: Transcript, _ words: [SpokenWord], with engine: any SpeechEngine,
    threadCount: Int, from last: Progress?, note: (Progress) throws(SpeechError) -> Void
  ) throws(SpeechError) -> Outcome {
    let count = sides?.readers.count ?? 0
    var progress = last ?? Progress()
    if progress.sides.count != count {
      progress.sides = Array(repeating: AlignmentProgress(), count: count)
    }
    let all = TextAlignment(of: words, engine: engine, threadCount: threadCount)
    let found = try all.align(
      in: whole.readers[0], whole.surveys[0].trace, from: progress.whole
    ) { (own) throws(SpeechError) in
      progress.whole = own
      try note(progress)
    }
    guard let sides else {
      return Outcome(
        transcript: transcript.timed(by: found, spoken: words), share: found.share,
        extraWordCount: found.extraWordCount)
    }
    let voices = VoiceSides(
      of: transcript, at: found.words, in: sides.surveys.map(\.trace))
    var divided = DividedTranscript(transcript, words, voices, sides.speaker)
    for channel in 0..<count {
      let part = divided.part(on: channel)
      guard part.words.contains(where: \.isSpoken) else { continue }
      let result = try TextAlignment(of: part.words, engine: engine, threadCount: threadCount)
        .align(
          in: sides.readers[channel], sides.surveys[channel].trace, from: progress.sides[channel]
        ) { (own) throws(SpeechError) in
          progress.sides[channel] = own
          try note(progress)
        }
      divided.add(result, on: channel)
    }
    return divided.outcome
  }
}

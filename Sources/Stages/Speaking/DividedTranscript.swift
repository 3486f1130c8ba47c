import Speech
import Transcripts

/// A text whose words are on several channels: each channel's are taken out, timed by themselves,
/// and put back in their places.
struct DividedTranscript {
  private var transcript: Transcript
  private let spoken: [SpokenWord]
  private let voices: VoiceSides
  private let name: (Int) -> String?
  private var timed: [TimedWord]
  private var heardCount = 0.0
  private var extraWordCount = 0

  /// - Parameter name: what a channel is called.
  init(
    _ transcript: Transcript, _ spoken: [SpokenWord], _ voices: VoiceSides,
    _ name: @escaping (Int) -> String?
  ) {
    self.transcript = transcript
    self.spoken = spoken
    self.voices = voices
    self.name = name
    timed = transcript.words
  }

  private func indices(on channel: Int) -> [Int] {
    voices.channels.indices.filter { voices.channels[$0] == channel }
  }

  /// The words of a channel, in the order of the text.
  func part(on channel: Int) -> (transcript: Transcript, words: [SpokenWord]) {
    let indices = indices(on: channel)
    return (
      Transcript(segments: [Segment(words: indices.map { timed[$0] })]), indices.map { spoken[$0] }
    )
  }

  /// Gives the words of a channel their times.
  mutating func add(_ result: AlignmentResult, on channel: Int) {
    let part = part(on: channel)
    let words = part.transcript.timed(by: result, spoken: part.words).words
    for (index, word) in zip(indices(on: channel), words) { timed[index] = word }
    heardCount += result.share * Double(part.words.count(where: \.isSpoken))
    extraWordCount += result.extraWordCount
  }

  /// The whole text in its order; where it does not say who speaks, the channel does.
  var outcome: AlignedChannels.Outcome {
    var result = transcript
    var number = 0
    for segment in result.segments.indices {
      let speaker = result.segments[segment].speaker
      for word in result.segments[segment].words.indices {
        var own = timed[number]
        own.speaker = own.speaker ?? (speaker == nil ? name(voices.channels[number]) : nil)
        result.segments[segment].words[word] = own
        number += 1
      }
      result.segments[segment].start = result.segments[segment].words.compactMap(\.start).min()
      result.segments[segment].end = result.segments[segment].words.compactMap(\.end).max()
    }
    let count = spoken.count(where: \.isSpoken)
    return AlignedChannels.Outcome(
      transcript: result.inTurns, share: count == 0 ? 0 : heardCount / Double(count),
      extraWordCount: extraWordCount, sides: voices.speakers.compactMapValues(name))
  }
}

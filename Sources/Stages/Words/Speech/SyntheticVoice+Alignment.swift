import PipelineModel
import Platform
import SoundEngine
import Speech
import Transcripts

/// Words of a language without an acoustic model are found by comparison with synthesised speech.
extension SyntheticVoice: AlignmentMethod {
  var language: String? { "en" }

  func align(
    _ transcript: Transcript, in channels: AlignedChannels, _ context: StageContext
  ) throws(SpoolError) -> AlignedChannels.Outcome {
    guard !channels.isDivided else {
      throw SpoolError(
        "align cannot look for speakers on their own sides with synthesised speech",
        advice: "leave out channels, or name a model of the language")
    }
    let written = transcript.words.map(\.text)
    let alignment = SyntheticAlignment(
      of: zip(written, StageDirections.marked(in: transcript)).map { $1 ? "" : $0 }, voice: self,
      threadCount: CoreCount.online)
    let words = zip(written, alignment.isSpoken)
      .map { $1 ? SpokenWord($0) : SpokenWord(variants: []) }
    try words.checkForSpeech()
    let journal = SpeechJournal<SyntheticProgress>(context)
    let result = try alignment.align(
      in: channels.reader, from: journal.lastProgress ?? SyntheticProgress(),
      record: journal.record)
    var timed = transcript.timed(by: result, spoken: words)
    timed.words = zip(timed.words, result.words).map { word, place in
      var word = word
      if place.isHeard, word.start == place.start { word.flags.insert(.coarse) }
      return word
    }
    return AlignedChannels.Outcome(
      transcript: timed, share: result.share, extraWordCount: result.extraWordCount)
  }
}

extension SyntheticProgress: SpeechProgress {}

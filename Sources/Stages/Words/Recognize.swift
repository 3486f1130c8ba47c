import PipelineModel
import Platform
import SoundEngine
import Speech
import Transcripts

/// `recognize`: finds out what is said, and when.
struct RecognizeStage: DeclaredStage, WholeStage, VersionedStage {
  typealias Parameters = ListeningParameters<Own>

  struct Own: Codable, Sendable {
    let channels: ChannelChoice
  }

  static let descriptor = StageDescriptor(
    kind: "recognize", revision: 4,
    summary: "Find out what is said, and give every word its time",
    discussion: """
      For recordings without a transcript. The words are in lower case and without punctuation, as \
      the dictionary has them; numbers are words. Each has its times and a confidence: how likely \
      it was this word. Below 0.5 it has the flag uncertain. Expect a third of the words of a clear \
      reader to be wrong, and most where the speech is verse, synthetic, noisy or far away: good \
      enough to find a place by, not to be read. Where nobody speaks there are no words; music may \
      be taken for some, with low confidence; what is whispered is not heard. Finished pieces are \
      noted: after a crash the work goes on behind them. Acoustic models are those of CMU Sphinx; \
      without model: it is US English, as Debian's package pocketsphinx-en-us has it.
      """,
    flow: .whole,
    inputs: [Port(.sound, .sound, "the sound in which something is said")],
    outputs: [
      Port(.transcript, .transcript, "the words with their times"),
      Port(.measurement, .measurement, "how sure the words are, as JSON"),
    ],
    parameters: [ChannelChoice.parameter] + ModelChoice.parameters
      + [ModelChoice.languageModelParameter] + WordLimits.parameters)

  static var libraries: [String: String] { ModelChoice.libraries }

  var libraries: [String: String] { files.texts }

  private let files: FileDigests
  private let model: AcousticModel
  private let isSeparate: Bool
  private let limits: WordLimits

  init(_ parameters: Parameters) throws(SpoolError) {
    files = parameters.model.files
    isSeparate = parameters.own.channels == .separate
    limits = WordLimits(parameters.limits)
    model = try parameters.model.acousticModel(for: "recognize", needsLanguageModel: true)
  }

  func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput] {
    guard let sound = context.inputs[.sound]?.artifact else {
      throw SpoolError("there is no sound to listen to")
    }
    let kept = try PCMArtifact(sound, in: context.store)
    let channels = try SpeechChannels(of: kept, isSeparate: isSeparate, context.check)
    let transcript = try recognise(channels, SpeechJournal<Progress>(context))
    let report = QualityReport(on: transcript, speech: channels.speech)
    try limits.check(report, transcript, warn: context.warn)
    return try context.outputs(
      of: transcript, figures: Self.figures(transcript, report, channels.speech))
  }

  /// How far each channel is.
  struct Progress: SpeechProgress {
    var channels: [RecognitionProgress]

    var share: Double { channels.reduce(0) { $0 + $1.share } / Double(max(1, channels.count)) }
  }

  /// The words of each channel as one transcript, in the order in which people begin to speak.
  private func recognise(
    _ channels: SpeechChannels, _ journal: SpeechJournal<Progress>
  ) throws(SpoolError) -> Transcript {
    let count = channels.readers.count
    var progress = Progress(channels: Array(repeating: RecognitionProgress(), count: count))
    if let last = journal.lastProgress, last.channels.count == count { progress = last }
    var transcript = Transcript(language: model == .english ? "en" : nil)
    for (number, (reader, survey)) in zip(channels.readers, channels.surveys).enumerated() {
      let words = try model.recognise(
        in: reader, survey, threadCount: CoreCount.online, from: progress.channels[number]
      ) { (own) throws(SpoolError) in
        progress.channels[number] = own
        try journal.record(progress)
      }
      transcript.segments += Self.turns(of: words, speaker: channels.speaker(number))
    }
    // A stable sort: equal beginnings stay in the order of the channels.
    transcript.segments.sort { $0.start ?? 0 < $1.start ?? 0 }
    return transcript
  }

  /// A pause of this length, in seconds, parts what is said.
  private static let pause = 0.7

  /// What is said between two pauses.
  private static func turns(of words: [TimedWord], speaker: String?) -> [Segment] {
    var turns: [[TimedWord]] = []
    for word in words {
      if let last = turns.last?.last?.end, let start = word.start, start - last < pause {
        turns[turns.count - 1].append(word)
      } else {
        turns.append([word])
      }
    }
    return turns.map {
      Segment(words: $0, start: $0.first?.start, end: $0.last?.end, speaker: speaker)
    }
  }

  /// How sure the words are, as JSON. The mean confidence is the share of the words that are likely right.
  private static func figures(
    _ transcript: Transcript, _ report: QualityReport, _ speech: [Range<Double>]
  ) -> String {
    let confidences = transcript.words.compactMap(\.confidence)
    let seconds = speech.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
    return JSONValue.object(leavingOut: [
      "confidence": confidences.isEmpty
        ? nil : .decimal(confidences.reduce(0, +) / Double(confidences.count)),
      "speechSeconds": .decimal(seconds),
      "quality": report.json,
    ]).compact
  }
}

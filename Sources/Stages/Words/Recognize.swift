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
    let channels = try SpeechChannels(of: kept, isSeparate: isSeparate, context.stop)
    let recognised = RecognisedChannels(channels)
    let notes = SpeechJournal<RecognisedChannels.Progress>(context)
    let words = try recognised.recognise(
      with: Recognition(model: model, threadCount: CoreCount.online), from: notes.lastProgress,
      record: notes.record)
    let language = model == .english ? "en" : nil
    let transcript = recognised.transcript(of: words, language: language)
    let report = QualityReport(on: transcript, speech: channels.speech)
    try limits.check(report, transcript, warn: context.warn)
    return try context.outputs(
      of: transcript, figures: Self.figures(transcript, report, channels.speech))
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
    record: (Progress) throws(SpoolError) -> Void
  ) throws(SpoolError) -> [[TimedWord]] {
    let readers = channels.readers
    var progress =
      last?.channels.count == readers.count
      ? last ?? Progress(channels: [])
      : Progress(channels: readers.map { _ in RecognitionProgress() })
    var words: [[TimedWord]] = []
    for (number, (reader, survey)) in zip(readers, channels.surveys).enumerated() {
      words.append(
        try recognition.recognise(
          in: reader, survey.trace, speech: survey.activity.stretches,
          from: progress.channels[number]
        ) { (own) throws(SpoolError) in
          progress.channels[number] = own
          try record(progress)
        })
    }
    return words
  }

  /// The words as one transcript, in the order in which people begin to speak.
  func transcript(of words: [[TimedWord]], language: String?) -> Transcript {
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

extension Transcript {
  /// A pause of this length, in seconds, parts what is said.
  private static let pause = 0.7

  /// What a recogniser heard: a segment between two pauses.
  init(recognised words: [TimedWord], language: String?, speaker: String? = nil) {
    self.init(language: language)
    var turn: [TimedWord] = []
    for word in words {
      if let last = turn.last?.end, let start = word.start, start - last >= Self.pause {
        segments.append(Segment(turn: turn, speaker: speaker))
        turn = []
      }
      turn.append(word)
    }
    if !turn.isEmpty { segments.append(Segment(turn: turn, speaker: speaker)) }
  }
}

extension Segment {
  fileprivate init(turn words: [TimedWord], speaker: String?) {
    self.init(words: words, start: words.first?.start, end: words.last?.end, speaker: speaker)
  }
}

import PipelineModel
import Speech
import Threading
import Transcripts

/// `recognize`: finds out what is said, and when.
struct RecognizeStage: DeclaredStage, WholeStage {
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

  private let model: AcousticModel
  private let isSeparate: Bool
  private let limits: WordLimits

  init(_ parameters: Parameters) throws(StageError) {
    isSeparate = parameters.own.channels == .separate
    limits = WordLimits(parameters.limits)
    model = try parameters.model.acousticModel(for: "recognize", needsLanguageModel: true)
  }

  func run(_ context: StageContext) throws(StageError) -> [PortName: StepOutput] {
    guard let sound = context.inputs[.sound]?.artifact else {
      throw StageError("there is no sound to listen to")
    }
    let kept = try KeptSound(sound, in: context.store)
    let channels = try SpeechChannels(of: kept, isSeparate: isSeparate, context.stop)
    let recognised = RecognisedChannels(channels)
    let notes = SpeechNotes<RecognisedChannels.Progress>(context)
    let words = try notes.working { (note) throws(SpeechError) in
      try recognised.recognise(
        with: Recognition(engine: SphinxEngine(model), threadCount: CoreCount.online),
        from: notes.lastProgress, note: note)
    }
    let language = model == .english ? "en" : nil
    let transcript = recognised.transcript(of: words, language: language)
    let report = QualityMeasure().report(on: transcript, speech: channels.speech)
    try limits.check(report, transcript, warn: context.warn)
    return try context.outputs(
      of: transcript, figures: RecognitionFigures(transcript, report, channels.speech).text)
  }
}

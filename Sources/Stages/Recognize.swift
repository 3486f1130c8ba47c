import PipelineModel
import Speech
import Threading
import Transcripts

/// `recognize`: finds out what is said, and when.
struct RecognizeStage: DeclaredStage, WholeStage {
  struct Parameters: Codable, Sendable {
    let untimedWords: Int?
    let interpolated: Double?
    let uncertain: Double?
    let longestWord: Double?
    let coverage: Double?
    let outOfBounds: WordLimits.OutOfBounds
    let channels: ChannelChoice
    let model: String?
    let dictionary: String?
    let languageModel: String?
  }

  static let descriptor = StageDescriptor(
    kind: "recognize", revision: 1,
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
      Port(PortName("transcript"), .transcript, "the words with their times"),
      Port(.measurement, .measurement, "how sure the words are, as JSON"),
    ],
    parameters: [
      ChannelChoice.parameter,
      ParameterDescriptor(
        "model", .text(maximumLength: 4096), .optional,
        "the folder of another acoustic model of CMU Sphinx"),
      ParameterDescriptor(
        "dictionary", .text(maximumLength: 4096), .optional,
        "the pronunciations that go with it, in the form of cmudict"),
      ParameterDescriptor(
        "language-model", .text(maximumLength: 4096), .optional,
        "how likely its words follow each other: a file in the form of ARPA or of CMU Sphinx"),
    ] + WordLimits.parameters)

  static var libraries: [String: String] { ["pocketsphinx": "0.8+5prealpha"] }

  private let model: AcousticModel
  private let isSeparate: Bool
  private let limits: WordLimits

  init(_ parameters: Parameters) throws(StageError) {
    isSeparate = parameters.channels == .separate
    limits = WordLimits(
      WordLimits.Parameters(
        untimedWords: parameters.untimedWords, interpolated: parameters.interpolated,
        uncertain: parameters.uncertain, longestWord: parameters.longestWord,
        coverage: parameters.coverage, outOfBounds: parameters.outOfBounds))
    switch (parameters.model, parameters.dictionary, parameters.languageModel) {
    case (nil, nil, nil): model = .english
    case (let folder?, let dictionary?, let languageModel?):
      model = AcousticModel(folder: folder, dictionary: dictionary, languageModel: languageModel)
    default:
      throw StageError(
        "recognize needs model, dictionary and language-model together",
        advice: "name all three, or none for US English")
    }
  }

  func run(_ context: StageContext) throws(StageError) -> [PortName: StepOutput] {
    guard let sound = context.inputs[.sound]?.artifact else {
      throw StageError("there is no sound to listen to")
    }
    let kept = try KeptSound(sound, in: context.store)
    let channels = try RecognisedChannels(of: kept, isSeparate: isSeparate, context.stop)
    let notes = SpeechNotes<RecognisedChannels.Progress>(context)
    let words = try notes.working { (note) throws(SpeechError) in
      try channels.recognise(
        with: Recognition(engine: SphinxEngine(model), threadCount: CoreCount.online),
        from: notes.lastProgress, note: note)
    }
    let language = model == .english ? "en" : nil
    let transcript = channels.transcript(of: words, language: language)
    return try outputs(of: transcript, channels.speech, context)
  }

  private func outputs(
    of transcript: Transcript, _ speech: [Range<Double>], _ context: StageContext
  ) throws(StageError) -> [PortName: StepOutput] {
    let report = QualityMeasure().report(on: transcript, speech: speech)
    try limits.check(report, transcript, warn: context.warn)
    let text: String
    do throws(TranscriptError) { text = try TranscriptFormat.json.write(transcript) } catch {
      throw StageError(error)
    }
    let figures = RecognitionFigures(transcript, report, speech)
    do throws(StoreError) {
      return [
        PortName("transcript"): StepOutput(try context.store.keep(text, as: .transcript)),
        .measurement: StepOutput(try context.store.keep(figures.text, as: .measurement)),
      ]
    } catch { throw StageError(error) }
  }
}

import PipelineModel
import Speech
import Transcripts

/// `align`: gives every word of a transcript its time.
struct AlignStage: DeclaredStage, WholeStage {
  struct Parameters: Codable, Sendable {
    let untimedWords: Int?
    let interpolated: Double?
    let uncertain: Double?
    let longestWord: Double?
    let coverage: Double?
    let outOfBounds: WordLimits.OutOfBounds
    let least: Double
    let model: String?
    let dictionary: String?
    let language: String?
    let engine: AlignmentMethod.Engine?
  }

  static let descriptor = StageDescriptor(
    kind: "align", revision: 3,
    summary: "Give every word of a transcript its time",
    discussion: """
      The sound is listened to for phrases of the transcript; what is heard in a row is beyond \
      doubt, and between such places each word is put where it is spoken, to a hundredth of a \
      second. Speech that the transcript lacks, and words that nobody speaks, disturb nothing but \
      their neighbours. Every word comes out, in order, as it is written: numbers, money, times, \
      abbreviations and signs are understood as they are spoken. A word that was not heard gets a \
      place between its neighbours, the confidence 0 and the flag interpolated; one that hardly \
      resembles the sound has the flag uncertain. A transcript of which too little is heard is \
      refused. The transcript may be in any format that spool reads: JSON, SRT, WebVTT, TextGrid, \
      CTM, plain text and others. Finished pieces are noted: after a crash the work goes on behind \
      them. Acoustic models are those of CMU Sphinx; without model: it is US English, as Debian's \
      package pocketsphinx-en-us has it. Words that the dictionary lacks are pronounced as \
      libespeak-ng would. With language: de, or any other that espeak-ng speaks, the sound is compared \
      with what its synthetic voice makes of the text: most words are then found within a tenth of \
      a second, and have the flag coarse.
      """,
    flow: .whole,
    inputs: [
      Port(.sound, .sound, "the sound in which the words are spoken"),
      Port(PortName("transcript"), .transcript, "what is said", intake: .both),
    ],
    outputs: [
      Port(PortName("transcript"), .transcript, "the words with their times"),
      Port(.measurement, .measurement, "how well the transcript fits, as JSON"),
    ],
    parameters: [
      ParameterDescriptor(
        "least", .number(.percent, 0...100), .defaulted("30 %"),
        "the share of the words that must be heard"),
      ParameterDescriptor(
        "model", .text(maximumLength: 4096), .optional,
        "the folder of another acoustic model of CMU Sphinx"),
      ParameterDescriptor(
        "dictionary", .text(maximumLength: 4096), .optional,
        "the pronunciations that go with it, in the form of cmudict"),
    ] + AlignmentMethod.parameters + WordLimits.parameters)

  static var libraries: [String: String] {
    ["pocketsphinx": "0.8+5prealpha", "espeak-ng": "1.51"]
  }

  private let least: Double
  private let limits: WordLimits
  private let language: String?
  /// What the parameters say; nil where it depends on the transcript's language.
  private let chosen: AlignmentMethod?
  private let needsVoice: Bool

  init(_ parameters: Parameters) throws(StageError) {
    limits = WordLimits(
      WordLimits.Parameters(
        untimedWords: parameters.untimedWords, interpolated: parameters.interpolated,
        uncertain: parameters.uncertain, longestWord: parameters.longestWord,
        coverage: parameters.coverage, outOfBounds: parameters.outOfBounds))
    least = parameters.least
    language = parameters.language
    switch (parameters.model, parameters.dictionary, parameters.engine) {
    case (nil, nil, .sphinx): chosen = .model(SphinxEngine(.english))
    case (nil, nil, .synthesis) where language == nil: chosen = nil
    case (nil, nil, .synthesis): chosen = .synthesis(try AlignmentMethod.voice(for: language))
    case (nil, nil, nil) where language == nil: chosen = nil
    case (nil, nil, nil):
      chosen =
        AlignmentMethod.isEnglish(language)
        ? .model(SphinxEngine(.english))
        : .synthesis(try AlignmentMethod.voice(for: language))
    case (let model?, let dictionary?, nil), (let model?, let dictionary?, .sphinx):
      chosen = .model(
        SphinxEngine(AcousticModel(folder: model, dictionary: dictionary, languageModel: nil)))
    case (_?, _?, .synthesis):
      throw StageError(
        "align needs no model for synthesised speech", advice: "leave out model, or engine")
    default:
      throw StageError(
        "align needs model and dictionary together",
        advice: "name both, or neither for US English")
    }
    needsVoice = parameters.engine == .synthesis
  }

  /// The method for a transcript.
  private func method(for transcript: Transcript) throws(StageError) -> AlignmentMethod {
    if let chosen { return chosen }
    return !needsVoice && AlignmentMethod.isEnglish(transcript.language)
      ? .model(SphinxEngine(.english))
      : .synthesis(try AlignmentMethod.voice(for: transcript.language))
  }

  func run(_ context: StageContext) throws(StageError) -> [PortName: StepOutput] {
    guard let sound = context.inputs[.sound]?.artifact else {
      throw StageError("there is no sound to align with")
    }
    var transcript = try TranscriptFile.read(PortName("transcript"), of: context)
    let method = try method(for: transcript)
    transcript.language = transcript.language ?? language
    let reader = SpeechReader(try KeptSound(sound, in: context.store))
    let survey = try reader.survey { () throws(StageError) in try context.stop.check() }
    let (result, spoken) = try method.align(
      transcript.words.map(\.text), in: reader, survey, context)
    try check(result)
    var timed = transcript.timed(by: result, spoken: spoken)
    if case .synthesis = method { timed = timed.markedCoarse(by: result) }
    let report = QualityMeasure().report(
      on: timed, speech: survey.activity.stretches.seconds)
    try limits.check(report, timed, warn: context.warn)
    return try outputs(of: timed, result, report, context)
  }

  /// Refuses a transcript of something else.
  private func check(_ result: AlignmentResult) throws(StageError) {
    guard result.share >= least else {
      let share = Int((result.share * 100).rounded())
      throw StageError(
        "the transcript does not belong to the recording",
        reason: "\(share) % of its words were heard, and \(Int((least * 100).rounded())) % must be",
        advice: "give the transcript of this recording, or set least lower")
    }
  }

  private func outputs(
    of transcript: Transcript, _ result: AlignmentResult, _ report: QualityReport,
    _ context: StageContext
  ) throws(StageError) -> [PortName: StepOutput] {
    let text: String
    do throws(TranscriptError) { text = try TranscriptFormat.json.write(transcript) } catch {
      throw StageError(error)
    }
    do throws(StoreError) {
      return [
        PortName("transcript"): StepOutput(try context.store.keep(text, as: .transcript)),
        .measurement: StepOutput(
          try context.store.keep(AlignmentFigures(result, report).text, as: .measurement)),
      ]
    } catch { throw StageError(error) }
  }
}

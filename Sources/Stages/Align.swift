import PipelineModel
import Speech
import Threading
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
      libespeak-ng would.
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
    ] + WordLimits.parameters)

  static var libraries: [String: String] { ["pocketsphinx": "0.8+5prealpha"] }

  private let least: Double
  private let limits: WordLimits
  private let engine: SphinxEngine

  init(_ parameters: Parameters) throws(StageError) {
    limits = WordLimits(
      WordLimits.Parameters(
        untimedWords: parameters.untimedWords, interpolated: parameters.interpolated,
        uncertain: parameters.uncertain, longestWord: parameters.longestWord,
        coverage: parameters.coverage, outOfBounds: parameters.outOfBounds))
    least = parameters.least
    switch (parameters.model, parameters.dictionary) {
    case (nil, nil): engine = SphinxEngine(.english)
    case (let model?, let dictionary?):
      engine = SphinxEngine(
        AcousticModel(folder: model, dictionary: dictionary, languageModel: nil))
    default:
      throw StageError(
        "align needs model and dictionary together",
        advice: "name both, or neither for US English")
    }
  }

  func run(_ context: StageContext) throws(StageError) -> [PortName: StepOutput] {
    guard let sound = context.inputs[.sound]?.artifact else {
      throw StageError("there is no sound to align with")
    }
    let transcript = try TranscriptFile.read(PortName("transcript"), of: context)
    let written = transcript.words.map(\.text)
    let words = EnglishSpelling().spoken(written)
    guard words.contains(where: \.isSpoken) else {
      throw StageError(
        "the transcript has no words", reason: "nothing in it is spoken",
        advice: "give the text of what is said")
    }
    let reader = SpeechReader(try KeptSound(sound, in: context.store))
    let survey = try reader.survey { () throws(StageError) in try context.stop.check() }
    let notes = SpeechNotes<AlignmentProgress>(context)
    let result = try notes.working { (note) throws(SpeechError) in
      try TextAlignment(of: words, engine: engine, threadCount: CoreCount.online).align(
        in: reader, survey.trace, from: notes.lastProgress ?? AlignmentProgress(), note: note)
    }
    try check(result)
    let timed = transcript.timed(by: result, spoken: words)
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

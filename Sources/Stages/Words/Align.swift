import PipelineModel
import Platform
import SoundEngine
import Speech
import Transcripts

/// `align`: gives every word of a transcript its time.
struct AlignStage: DeclaredStage, WholeStage, VersionedStage {
  typealias Parameters = ListeningParameters<Own>

  struct Own: Codable, Sendable {
    let channels: ChannelChoice
    let least: Double
    let language: String?
    let engine: AlignmentEngine?
  }

  static let descriptor = StageDescriptor(
    kind: "align", revision: 9,
    summary: "Give every word of a transcript its time",
    discussion: """
      The sound is listened to for phrases of the transcript; what is heard in a row is beyond \
      doubt, and between such places each word is put where it is spoken, to some thousandths of a \
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
      a second, and have the flag coarse. With channels: separate every speaker of the text is looked \
      for on the side where he is the loudest, and where the text names nobody, the side of each \
      sentence says who speaks.
      """,
    flow: .whole,
    inputs: [
      Port(.sound, .sound, "the sound in which the words are spoken"),
      Port(.transcript, .transcript, "what is said", intake: .both),
    ],
    outputs: [
      Port(.transcript, .transcript, "the words with their times"),
      Port(.measurement, .measurement, "how well the transcript fits, as JSON"),
    ],
    parameters: [
      ChannelChoice.parameter,
      ParameterDescriptor(
        "least", .number(.percent, 0...100), .defaulted("30 %"),
        "the share of the words that must be heard"),
    ] + AlignmentEngine.parameters + ModelChoice.parameters + WordLimits.parameters)

  static var libraries: [String: String] {
    ModelChoice.libraries.merging(["espeak-ng": SpeechLibraries.espeakVersion ?? "missing"]) { $1 }
  }

  var libraries: [String: String] { files.texts }

  private let files: FileDigests
  private let isSeparate: Bool
  private let least: Double
  private let limits: WordLimits
  private let language: String?
  /// What the parameters say; nil where it depends on the transcript's language.
  private let chosen: (any AlignmentMethod)?
  private let needsVoice: Bool

  init(_ parameters: Parameters) throws(SpoolError) {
    files = parameters.model.files
    isSeparate = parameters.own.channels == .separate
    least = parameters.own.least
    limits = WordLimits(parameters.limits)
    language = parameters.own.language
    needsVoice = parameters.own.engine == .synthesis
    chosen = try AlignmentEngine.method(
      parameters.own.engine, parameters.model, language: language)
  }

  func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput] {
    guard let sound = context.inputs[.sound]?.artifact else {
      throw SpoolError("there is no sound to align with")
    }
    var transcript = try TranscriptFile.read(.transcript, of: context)
    let method =
      if let chosen { chosen } else {
        try AlignmentEngine.usualMethod(for: transcript.language, needsVoice: needsVoice)
      }
    transcript.language = transcript.language ?? language ?? method.language
    let channels = try AlignedChannels(
      of: try PCMArtifact(sound, in: context.store), isSeparate: isSeparate, context.stop)
    let outcome = try method.align(transcript, in: channels, context)
    try check(outcome, channels.speech)
    let report = QualityReport(on: outcome.transcript, speech: channels.speech)
    try limits.check(report, outcome.transcript, warn: context.warn)
    return try context.outputs(
      of: outcome.transcript, figures: Self.figures(outcome, report))
  }

  /// Refuses a transcript of something else, and one of much more than is spoken.
  private func check(
    _ outcome: AlignedChannels.Outcome, _ speech: [Range<Double>]
  ) throws(SpoolError) {
    guard outcome.share < least else { return }
    let needed = "\(Int((least * 100).rounded())) % must be"
    if let unheard = outcome.unheardWords(speech: speech) {
      throw SpoolError(
        "the transcript is too long for the recording",
        reason: "all that is spoken was found in it, but \(unheard.count) of its "
          + "\(unheard.all) words were not heard: \(Self.percent(outcome.share)) were, and \(needed)",
        advice: "give the text of this recording alone, or set least lower")
    }
    throw SpoolError(
      "the transcript does not belong to the recording",
      reason: (speech.isEmpty ? "no voice is heard in it: " : "")
        + "\(Self.percent(outcome.share)) of its words were heard, and \(needed)",
      advice: "give the transcript of this recording, or set least lower")
  }

  /// How well the transcript fits its recording, as JSON.
  private static func figures(
    _ outcome: AlignedChannels.Outcome, _ report: QualityReport
  ) -> String {
    JSONValue.object(leavingOut: [
      "heardShare": .decimal(outcome.share),
      "extraWords": .integer(outcome.extraWordCount),
      "channels": outcome.sides.isEmpty
        ? nil : .object(outcome.sides.mapValues { .text($0) }),
      "quality": report.json,
    ]).compact
  }

  private static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
}

extension AlignedChannels.Outcome {
  /// So much of the speech must have words of the text, and at most so many of the words that were heard,
  /// as a share of them, may be others.
  private static let (leastCover, mostExtra) = (0.8, 0.2)

  /// How many words of the text were not heard, and how many it has; nil where it does not have all
  /// that is spoken.
  ///
  /// - Parameter speech: where there is speech, in seconds.
  func unheardWords(speech: [Range<Double>]) -> (count: Int, all: Int)? {
    let words = transcript.words
    let heard = words.filter {
      $0.start != nil && $0.flags.isDisjoint(with: [.interpolated, .uncertain])
    }
    let cover =
      QualityReport(
        on: Transcript(segments: [Segment(words: heard)]), speech: speech
      ).coverage ?? 0
    guard !heard.isEmpty, !speech.isEmpty, cover >= Self.leastCover,
      Double(extraWordCount) <= Self.mostExtra * Double(heard.count)
    else { return nil }
    return (words.count { $0.flags.contains(.interpolated) }, words.count)
  }
}

import PipelineModel
import Platform
import Speech
import Transcripts

/// How the words of a transcript are found in sound: by an acoustic model of the language, or by what
/// a synthetic voice makes of the text.
protocol AlignmentMethod: Sendable {
  /// The language that it is for, where no parameter names one; nil where only the user's model knows.
  var language: String? { get }

  /// Finds the words of a transcript.
  func align(
    _ transcript: Transcript, in channels: AlignedChannels, _ context: StageContext
  ) throws(SpoolError) -> AlignedChannels.Outcome
}

/// What a user may ask for to find words.
enum AlignmentEngine: String, Codable, Sendable, CaseIterable {
  /// An acoustic model that Spool scores itself.
  case sphinx
  /// An acoustic model that libpocketsphinx scores, of whatever kind it is.
  case pocketsphinx
  /// A synthetic voice.
  case synthesis

  /// How stages declare what leads to a method.
  static let parameters = [
    ParameterDescriptor(
      "language", .text(maximumLength: 35), .optional,
      "the language that is spoken: en, de, pt-BR; without it the transcript's own, or English"),
    ParameterDescriptor(
      "engine", .choice(allCases.map(\.rawValue)), .optional,
      "by an acoustic model or by synthesised speech; without it whichever the language has"),
  ]

  /// The method that parameters ask for; nil where it depends on the transcript's language.
  static func method(
    _ engine: AlignmentEngine?, _ model: ModelChoice, language: String?
  ) throws(SpoolError) -> (any AlignmentMethod)? {
    let acoustic = try model.acousticModel(for: "align", needsLanguageModel: false)
    if engine == .sphinx || engine == .pocketsphinx || acoustic != .english {
      guard engine != .synthesis else {
        throw SpoolError(
          "align needs no model for synthesised speech", advice: "leave out model, or engine")
      }
      return SphinxEngine(acoustic, usesLibrary: engine == .pocketsphinx)
    }
    guard let language else { return nil }
    return try usualMethod(for: language, needsVoice: engine == .synthesis)
  }

  /// The method for a language, where no parameter says otherwise.
  static func usualMethod(
    for language: String?, needsVoice: Bool
  ) throws(SpoolError) -> any AlignmentMethod {
    !needsVoice && isEnglish(language)
      ? SphinxEngine(.english) : try SyntheticVoice.speaking(language ?? "en-us")
  }

  /// Whether an acoustic model of English is right for a language.
  private static func isEnglish(_ language: String?) -> Bool {
    guard let language else { return true }
    let primary = language.lowercased().prefix { $0.isLetter }
    return primary == "en" || primary == "eng" || primary == "english"
  }
}

extension SphinxEngine: AlignmentMethod {
  var language: String? { model == .english ? "en" : nil }

  func align(
    _ transcript: Transcript, in channels: AlignedChannels, _ context: StageContext
  ) throws(SpoolError) -> AlignedChannels.Outcome {
    let hyphenated = HyphenatedWords(in: transcript)
    let words = zip(hyphenated.spoken, StageDirections.marked(in: transcript))
      .map { $1 ? SpokenWord(variants: []) : $0 }
    try words.checkForSpeech()
    let journal = SpeechJournal<AlignedChannels.Progress>(context)
    var outcome = try channels.align(
      transcript, words, with: self, threadCount: CoreCount.online, from: journal.lastProgress,
      record: journal.record)
    outcome.transcript = hyphenated.shared(outcome.transcript)
    return outcome
  }
}

extension [SpokenWord] {
  func checkForSpeech() throws(SpoolError) {
    guard contains(where: \.isSpoken) else {
      throw SpoolError(
        "the transcript has no words", reason: "nothing in it can be read as speech",
        advice: "give the text of what is said, with no number of more than 1,000 digits")
    }
  }
}

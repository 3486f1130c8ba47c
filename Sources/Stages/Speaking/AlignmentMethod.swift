import PipelineModel
import Speech
import Threading
import Transcripts

/// How the words of a transcript are found in sound.
enum AlignmentMethod {
  /// By the sounds of the language.
  case model(SphinxEngine)
  /// By what a synthetic voice makes of the text.
  case synthesis(SyntheticVoice)

  /// What a user may ask for.
  enum Engine: String, Codable, Sendable, CaseIterable {
    /// An acoustic model.
    case sphinx
    /// A synthetic voice.
    case synthesis
  }

  /// How stages declare what leads to a method.
  static let parameters = [
    ParameterDescriptor(
      "language", .text(maximumLength: 35), .optional,
      "the language that is spoken: en, de, pt-BR; without it the transcript's own, or English"),
    ParameterDescriptor(
      "engine", .choice(Engine.allCases.map(\.rawValue)), .optional,
      "by an acoustic model or by synthesised speech; without it whichever the language has"),
  ]

  /// The method that parameters ask for; nil where it depends on the transcript's language.
  static func chosen(
    by model: ModelChoice, language: String?, _ engine: Engine?
  ) throws(StageError) -> AlignmentMethod? {
    let acoustic = try model.acousticModel(for: "align", needsLanguageModel: false)
    if engine == .sphinx || acoustic != .english {
      guard engine != .synthesis else {
        throw StageError(
          "align needs no model for synthesised speech", advice: "leave out model, or engine")
      }
      return .model(SphinxEngine(acoustic))
    }
    guard let language else { return nil }
    return try usual(for: language, needsVoice: engine == .synthesis)
  }

  /// The method for a language, where nobody says otherwise.
  static func usual(
    for language: String?, needsVoice: Bool
  ) throws(StageError) -> AlignmentMethod {
    !needsVoice && isEnglish(language)
      ? .model(SphinxEngine(.english)) : .synthesis(try voice(for: language))
  }

  /// The language that the method is for, where nobody says it; nil where only the user's model knows.
  var language: String? {
    switch self {
    case .model(let engine): engine.model == .english ? "en" : nil
    case .synthesis: "en"
    }
  }

  /// Whether an acoustic model of English is right for a language.
  private static func isEnglish(_ language: String?) -> Bool {
    guard let language else { return true }
    let primary = language.lowercased().prefix { $0.isLetter }
    return primary == "en" || primary == "eng" || primary == "english"
  }

  /// The synthetic voice for a language.
  static func voice(for language: String?) throws(StageError) -> SyntheticVoice {
    do throws(SpeechError) { return try SyntheticVoice.speaking(language ?? "en-us") } catch {
      throw StageError(error)
    }
  }

  /// Finds the words of a transcript.
  func align(
    _ transcript: Transcript, in channels: AlignedChannels, _ context: StageContext
  ) throws(StageError) -> AlignedChannels.Outcome {
    let written = transcript.words.map(\.text)
    let directions = StageDirections.marked(in: transcript)
    switch self {
    case .model(let engine):
      let hyphenated = HyphenatedWords(in: transcript)
      let words = try Self.checked(
        zip(hyphenated.spoken, directions).map { $1 ? SpokenWord(ways: []) : $0 })
      let notes = SpeechNotes<AlignedChannels.Progress>(context)
      var outcome = try notes.working { (note) throws(SpeechError) in
        try channels.align(
          transcript, words, with: engine, threadCount: CoreCount.online,
          from: notes.lastProgress, note: note)
      }
      outcome.transcript = hyphenated.shared(outcome.transcript)
      return outcome
    case .synthesis(let voice):
      guard !channels.isDivided else {
        throw StageError(
          "align cannot look for speakers on their own sides with synthesised speech",
          advice: "leave out channels, or name a model of the language")
      }
      let alignment = SyntheticAlignment(
        of: zip(written, directions).map { $1 ? "" : $0 }, voice: voice,
        threadCount: CoreCount.online)
      let words = try Self.checked(
        zip(written, alignment.isSpoken).map { $1 ? SpokenWord($0) : SpokenWord(ways: []) })
      let notes = SpeechNotes<SyntheticProgress>(context)
      let result = try notes.working { (note) throws(SpeechError) in
        try alignment.align(
          in: channels.reader, from: notes.lastProgress ?? SyntheticProgress(), note: note)
      }
      return AlignedChannels.Outcome(
        transcript: transcript.timed(by: result, spoken: words).markedCoarse(by: result),
        share: result.share, extraWordCount: result.extraWordCount)
    }
  }

  private static func checked(_ words: [SpokenWord]) throws(StageError) -> [SpokenWord] {
    guard words.contains(where: \.isSpoken) else {
      throw StageError(
        "the transcript has no words", reason: "nothing in it can be read as speech",
        advice: "give the text of what is said, with no number of more than 1,000 digits")
    }
    return words
  }
}

extension SyntheticProgress: SpeechProgress {}

extension Transcript {
  /// The same words; those whose times come from a comparison with synthesised speech say so.
  func markedCoarse(by result: AlignmentResult) -> Transcript {
    var transcript = self
    var number = 0
    for segment in transcript.segments.indices {
      for word in transcript.segments[segment].words.indices {
        let place = result.words[number]
        if place.isHeard, transcript.segments[segment].words[word].start == place.start {
          transcript.segments[segment].words[word].flags.insert(.coarse)
        }
        number += 1
      }
    }
    return transcript
  }
}

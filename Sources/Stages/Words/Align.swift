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
    kind: "align", revision: 11,
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
      for on the side where he is the loudest, without what leaks there from the others, and where the \
      text names nobody, the side of each sentence says who speaks.
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
    language = parameters.own.language == "auto" ? nil : parameters.own.language
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
    let isAssumed = transcript.language == nil && language == nil
    transcript.language = transcript.language ?? language ?? method.language
    let channels = try AlignedChannels(
      of: try PCMArtifact(sound, in: context.store), isSeparate: isSeparate, context.check)
    let outcome = try method.align(transcript, in: channels, context)
    let other = Self.otherLanguage(outcome.transcript)
    try check(outcome, channels.speech, isAssumed ? other : nil)
    if isAssumed, let other { context.warn(other.advice) }
    let report = QualityReport(on: outcome.transcript, speech: channels.speech)
    try limits.check(report, outcome.transcript, warn: context.warn)
    return try context.outputs(
      of: outcome.transcript, figures: Self.figures(outcome, report))
  }

  /// So much of a text must be heard that was looked for in a language that it is hardly in: some words
  /// of every language sound like some of any other.
  private static let leastOfOtherLanguage = 0.6

  /// Refuses a transcript of something else, and one of much more than is spoken.
  /// - Parameter other: the language that the text looks like, where another one was assumed.
  private func check(
    _ outcome: AlignedChannels.Outcome, _ speech: [Range<Double>],
    _ other: (language: String, advice: String)?
  ) throws(SpoolError) {
    let least =
      other == nil || self.least == 0 ? self.least : max(self.least, Self.leastOfOtherLanguage)
    guard outcome.share < least else { return }
    let needed =
      "\(Self.percent(least)) must be"
      + (least > self.least
        ? " of a text that looks like another language, where \(Self.percent(self.least)) do for others"
        : "")
    if let unheard = outcome.unheardWords(speech: speech) {
      throw SpoolError(
        "the transcript is too long for the recording",
        reason: "all that is spoken was found in it, but \(unheard.count) of its "
          + "\(unheard.all) words were not heard: \(Self.percent(outcome.share)) were, and \(needed)",
        advice: "give the text of this recording alone, or set least lower")
    }
    let other = other ?? Self.otherLanguage(outcome.transcript)
    var error = SpoolError(
      "the transcript does not belong to the recording",
      reason: (speech.isEmpty ? "no voice is heard in it: " : "")
        + "\(Self.percent(outcome.share)) of its words were heard, and \(needed)",
      advice: other?.advice ?? "give the transcript of this recording, or set least lower")
    if let other {
      error.faults = [
        SpoolError.ParameterFault(
          at: ["language"], "the text looks like \(other.language)", remedy: other.language)
      ]
    }
    throw error
  }

  /// The language of a text, and what to do, where it is another than was looked for; nil where it
  /// is not.
  private static func otherLanguage(
    _ transcript: Transcript
  ) -> (language: String, advice: String)? {
    let language = transcript.language?.lowercased().prefix { $0.isLetter } ?? "en"
    guard let likely = transcript.likelyLanguage, !language.hasPrefix(likely) else { return nil }
    return (
      likely,
      "the text looks like \(likely), and the language is \(language): add "
        + "\(option: .set) language=\(likely), or to the stage language: \(likely)"
    )
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
      "the language that is spoken: en, de, pt-BR; auto, or without it, the transcript's own, or English"
    ),
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

/// Words that the end of a line divides, `coun-` and `try` below it: spoken as one word, or as two where
/// the hyphen is the word's own.
struct HyphenatedWords {
  /// Whether a word continues in the next, in the order of `transcript.words`.
  let goOn: [Bool]
  private let written: [String]

  /// What follows a hyphen that stands for the rest of a word, as in `pre- and post-war`.
  private static let joining: Set<String> = ["and", "or", "to", "nor", "but"]

  /// Reads a text whose words have no times yet. O(n) in its length.
  init(in transcript: Transcript) {
    goOn = transcript.segments.flatMap(Self.goOn)
    written = transcript.words.map(\.text)
  }

  private static func goOn(in segment: Segment) -> [Bool] {
    var marks = segment.words.map { _ in false }
    let counts = segment.text.split(whereSeparator: \.isNewline).map { line in
      line.split(whereSeparator: \.isWhitespace).count
    }
    guard counts.count > 1, counts.reduce(0, +) == marks.count,
      segment.words.allSatisfy({ $0.start == nil })
    else { return marks }
    var next = 0
    for count in counts.dropLast() {
      next += count
      guard next > 0, next < marks.count else { continue }
      let stem = segment.words[next - 1].text.dropLast()
      let rest = segment.words[next].text
      marks[next - 1] =
        ["-", "‐", "\u{ad}"].contains(segment.words[next - 1].text.suffix(1))
        && stem.count > 1 && stem.last?.isLetter == true && rest.first?.isLowercase == true
        && !joining.contains(rest.filter(\.isLetter)) && (next < 2 || !marks[next - 2])
    }
    return marks
  }

  /// How each word is spoken in English: a divided one all in its first half, its second not at all.
  var spoken: [SpokenWord] {
    let asTwo = spoken(joinedBy: "-")
    let asOne = goOn.contains(true) ? spoken(joinedBy: "") : asTwo
    return asTwo.indices.map {
      goOn[$0] ? SpokenWord(variants: asOne[$0].variants + asTwo[$0].variants) : asTwo[$0]
    }
  }

  private func spoken(joinedBy hyphen: String) -> [SpokenWord] {
    var words = written
    for index in words.indices where goOn[index] {
      words[index] = words[index].dropLast() + hyphen + words[index + 1]
      words[index + 1] = ""
    }
    return EnglishSpelling().spoken(words)
  }

  /// A transcript in which the second half of a word takes its share of the first's time, by their
  /// letters, and all that is known of it; unchanged where its words are in another order.
  func shared(_ transcript: Transcript) -> Transcript {
    guard goOn.contains(true), transcript.words.map(\.text) == written else { return transcript }
    var words = transcript.words
    for index in words.indices where goOn[index] { Self.share(index, &words) }
    var transcript = transcript
    transcript.words = words
    var end = 0
    for segment in transcript.segments.indices {
      end += transcript.segments[segment].words.count
      if end > 1, goOn[end - 2] { transcript.segments[segment].end = words[end - 1].end }
    }
    return transcript
  }

  /// Gives the word after one a part of its time.
  private static func share(_ word: Int, _ words: inout [TimedWord]) {
    guard let start = words[word].start, let end = words[word].end else { return }
    let letters = words[word...word + 1].map { Double($0.text.count(where: \.isLetter)) }
    let cut = start + (end - start) * letters[0] / (letters[0] + letters[1])
    words[word].end = cut
    words[word + 1].start = cut
    words[word + 1].end = end
    words[word + 1].confidence = words[word].confidence
    words[word + 1].flags = words[word].flags
  }
}

import PipelineModel
import Platform
import Speech
import Transcripts

/// How the words of a transcript are found in sound.
enum AlignmentMethod {
  /// By the sounds of the language.
  case model(SphinxEngine)
  /// By what a synthetic voice makes of the text.
  case synthesis(SyntheticVoice)

  /// What a user may ask for.
  enum Engine: String, Codable, Sendable, CaseIterable {
    /// An acoustic model that Spool scores itself.
    case sphinx
    /// An acoustic model that libpocketsphinx scores, of whatever kind it is.
    case pocketsphinx
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
  ) throws(SpoolError) -> AlignmentMethod? {
    let acoustic = try model.acousticModel(for: "align", needsLanguageModel: false)
    if engine == .sphinx || engine == .pocketsphinx || acoustic != .english {
      guard engine != .synthesis else {
        throw SpoolError(
          "align needs no model for synthesised speech", advice: "leave out model, or engine")
      }
      return .model(SphinxEngine(acoustic, usesLibrary: engine == .pocketsphinx))
    }
    guard let language else { return nil }
    return try usual(for: language, needsVoice: engine == .synthesis)
  }

  /// The method for a language, where no parameter says otherwise.
  static func usual(
    for language: String?, needsVoice: Bool
  ) throws(SpoolError) -> AlignmentMethod {
    !needsVoice && isEnglish(language)
      ? .model(SphinxEngine(.english)) : .synthesis(try voice(for: language))
  }

  /// The language that the method is for, where no parameter names one; nil where only the user's
  /// model knows.
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
  static func voice(for language: String?) throws(SpoolError) -> SyntheticVoice {
    do throws(SpeechError) { return try SyntheticVoice.speaking(language ?? "en-us") } catch {
      throw SpoolError(error)
    }
  }

  /// Finds the words of a transcript.
  func align(
    _ transcript: Transcript, in channels: AlignedChannels, _ context: StageContext
  ) throws(SpoolError) -> AlignedChannels.Outcome {
    let written = transcript.words.map(\.text)
    let directions = StageDirections.marked(in: transcript)
    switch self {
    case .model(let engine):
      let hyphenated = HyphenatedWords(in: transcript)
      let words = try Self.checked(
        zip(hyphenated.spoken, directions).map { $1 ? SpokenWord(variants: []) : $0 })
      let notes = SpeechJournal<AlignedChannels.Progress>(context)
      var outcome = try notes.working { (note) throws(SpeechError) in
        try channels.align(
          transcript, words, with: engine, threadCount: CoreCount.online,
          from: notes.lastProgress, record: note)
      }
      outcome.transcript = hyphenated.shared(outcome.transcript)
      return outcome
    case .synthesis(let voice):
      guard !channels.isDivided else {
        throw SpoolError(
          "align cannot look for speakers on their own sides with synthesised speech",
          advice: "leave out channels, or name a model of the language")
      }
      let alignment = SyntheticAlignment(
        of: zip(written, directions).map { $1 ? "" : $0 }, voice: voice,
        threadCount: CoreCount.online)
      let words = try Self.checked(
        zip(written, alignment.isSpoken).map { $1 ? SpokenWord($0) : SpokenWord(variants: []) })
      let notes = SpeechJournal<SyntheticProgress>(context)
      let result = try notes.working { (note) throws(SpeechError) in
        try alignment.align(
          in: channels.reader, from: notes.lastProgress ?? SyntheticProgress(), record: note)
      }
      return AlignedChannels.Outcome(
        transcript: transcript.timed(by: result, spoken: words).markedCoarse(by: result),
        share: result.share, extraWordCount: result.extraWordCount)
    }
  }

  private static func checked(_ words: [SpokenWord]) throws(SpoolError) -> [SpokenWord] {
    guard words.contains(where: \.isSpoken) else {
      throw SpoolError(
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
    var transcript = transcript
    var number = 0
    for segment in transcript.segments.indices {
      for word in transcript.segments[segment].words.indices {
        if goOn[number] { transcript.segments[segment].share(word) }
        number += 1
      }
    }
    return transcript
  }
}

extension Segment {
  /// Gives the word after one a part of its time.
  fileprivate mutating func share(_ word: Int) {
    guard let start = words[word].start, let end = words[word].end else { return }
    let letters = words[word...word + 1].map { Double($0.text.count(where: \.isLetter)) }
    let cut = start + (end - start) * letters[0] / (letters[0] + letters[1])
    words[word].end = cut
    words[word + 1].start = cut
    words[word + 1].end = end
    words[word + 1].confidence = words[word].confidence
    words[word + 1].flags = words[word].flags
    if word + 2 == words.count { self.end = end }
  }
}

import Audio
import FoundationEssentials
import PipelineModel
import Platform
import Transcripts

/// A figure of sound, words or files that a pipeline states a range for.
enum Fact: CaseIterable {
  case loudness, truePeak, duration, silence, clipped, channels, sampleRate, snr
  case words, untimedWords, interpolated, uncertain, longestWord
  case size

  /// What a fact is of: the input port that it needs.
  enum Subject: CaseIterable {
    case sound, words, files
  }

  /// In pipelines: `true-peak`.
  var name: String {
    "\(self)".reduce(into: "") { name, letter in
      name += letter.isUppercase ? "-" + letter.lowercased() : String(letter)
    }
  }

  var subject: Subject {
    switch self {
    case .loudness, .truePeak, .duration, .silence, .clipped, .channels, .sampleRate, .snr:
      .sound
    case .words, .untimedWords, .interpolated, .uncertain, .longestWord: .words
    case .size: .files
    }
  }

  /// The type of the range's ends.
  var type: ParameterType {
    switch self {
    case .loudness: .number(.lufs, -100...20)
    case .truePeak: .number(.decibelsTruePeak, -150...50)
    case .duration: .number(.seconds, 0...360_000)
    case .silence, .interpolated, .uncertain: .number(.percent, 0...100)
    case .clipped: .integer(0...1_000_000_000)
    case .channels: .integer(1...AudioFormat.mostChannels)
    case .sampleRate: .number(.kilohertz, 1...768)
    case .snr: .number(.decibels, -100...200)
    case .words, .untimedWords: .integer(0...10_000_000)
    case .longestWord: .number(.seconds, 0...3600)
    case .size: .number(.megabytes, 0...1_000_000_000)
    }
  }

  var summary: String {
    switch self {
    case .loudness: "the integrated loudness of EBU R 128"
    case .truePeak: "the true peak of ITU-R BS.1770-4"
    case .duration: "the length"
    case .silence: "the share of the time that is silent"
    case .clipped: "clipped samples, as measure counts them"
    case .channels: "the channels"
    case .sampleRate: "the sample rate"
    case .snr: "the signal-to-noise ratio"
    case .words: "the words"
    case .untimedWords: "words without a time of their own: none, or interpolated"
    case .interpolated: "the share of words that are interpolated"
    case .uncertain: "the share of words with a confidence below 0.5"
    case .longestWord: "the longest word by its times"
    case .size: "the length of each file"
    }
  }

  /// What counts of a measurement: levels hold as well where their tenths do, as they are shown, so that
  /// a ceiling that a limiter keeps to by its own measure is kept to here.
  func counted(_ number: Double, in range: NumberRange) -> Double {
    guard [.loudness, .truePeak].contains(self), !range.contains(number) else { return number }
    let tenths = (number * 10).rounded() / 10
    return range.contains(tenths) ? tenths : number
  }

  var parameter: ParameterDescriptor {
    ParameterDescriptor(name, .range(of: type), .optional, summary)
  }
}

/// A fact as it was found, for people and for programs.
struct FactCheck: Codable, Hashable {
  /// As the pipeline names it; of several files with the file's number.
  let name: String
  /// For people: `-20.1 LUFS`.
  let measured: String
  /// For people: `-16.5 LUFS .. -15.5 LUFS`.
  let allowed: String
  /// In `unit`, as the range is; nil if there is none, or if it is no number.
  let value: Double?
  /// The unit of the numbers; empty without one.
  let unit: String
  let minimum, maximum, exclusiveMinimum, exclusiveMaximum: Double?
  let holds: Bool

  /// Checks a number.
  /// - Parameters:
  ///   - number: in base units; nil if there is none, which is in no range.
  ///   - missing: what is said without a number.
  init(
    _ name: String, of fact: Fact, _ number: Double?, in range: NumberRange,
    missing: String = "not measurable"
  ) {
    self.name = name
    let (factor, symbol) = fact.scale
    func scaled(_ number: Double?) -> Double? { number.map { ($0 / factor * 1e9).rounded() / 1e9 } }
    let counted = number.map { fact.counted($0, in: range) }
    holds = counted.map(range.contains) ?? false
    value = scaled(number)
    unit = symbol
    measured = counted.map { fact.text(of: $0, in: range) } ?? missing
    allowed = range.text(of: fact.type)
    minimum = scaled(range.minimum)
    maximum = scaled(range.maximum)
    exclusiveMinimum = scaled(range.exclusiveMinimum)
    exclusiveMaximum = scaled(range.exclusiveMaximum)
  }

  /// Checks a language: `en` allows `en-GB` too.
  init(language: String?, among languages: [String]) {
    name = "language"
    measured = language ?? "unknown"
    allowed = languages.joined(separator: ", ")
    (value, unit) = (nil, "")
    (minimum, maximum, exclusiveMinimum, exclusiveMaximum) = (nil, nil, nil, nil)
    let found = language?.lowercased() ?? ""
    holds = languages.contains { language in
      let wanted = language.lowercased()
      return found == wanted || found.hasPrefix(wanted + "-")
    }
  }
}

extension Fact {
  /// The factor of the unit that it is shown in, and the unit's symbol.
  fileprivate var scale: (factor: Double, symbol: String) {
    if case .number(let unit, _) = type { (unit.factor, unit.symbol) } else { (1, "") }
  }

  /// A number as people read it: to a tenth, or to as many digits as show on which side of the
  /// range's ends it is.
  fileprivate func text(of number: Double, in range: NumberRange) -> String {
    let (factor, _) = scale
    let holds = range.contains(number)
    var power = 10.0
    while power < 1e6 {
      let rounded = (number / factor * power).rounded() / power * factor
      // The product may miss the end that it stands for by the error of binary fractions.
      let shown = abs(rounded) < 1e6 ? (rounded * 1e9).rounded() / 1e9 : rounded
      if range.contains(shown) == holds { return type.text(of: .number(shown)) }
      power *= 10
    }
    return type.text(of: .number(number))
  }
}

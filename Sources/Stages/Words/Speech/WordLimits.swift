import PipelineModel
import Platform
import Transcripts

/// What the words of a recording must keep to, and what happens where they do not.
struct WordLimits {
  /// The limits, as stages have them among their parameters; nil for none.
  struct Parameters: Codable, Sendable {
    let untimedWords: Int?
    let interpolated: Double?
    let uncertain: Double?
    let longestWord: Double?
    let coverage: Double?
    let outOfBounds: OutOfBounds
  }

  /// What happens where a limit is not kept to.
  enum OutOfBounds: String, Codable, Sendable, CaseIterable {
    /// The stage fails, and the recording with it.
    case fail
    /// It is said.
    case warn
  }

  /// How stages declare them.
  static let parameters = [
    ParameterDescriptor(
      "untimed-words", .integer(0...1_000_000), .optional,
      "how many words may have no time of their own at most: none, or interpolated"),
    ParameterDescriptor(
      "interpolated", .number(.percent, 0...100), .optional,
      "the share of words that may be interpolated at most"),
    ParameterDescriptor(
      "uncertain", .number(.percent, 0...100), .optional,
      "the share of words that may have a confidence below 0.5 at most"),
    ParameterDescriptor(
      "longest-word", .number(.seconds, 0.1...3600), .optional, "how long a word may be at most"),
    ParameterDescriptor(
      "coverage", .number(.percent, 0...100), .optional,
      "the share of speech that must have words at least"),
    ParameterDescriptor(
      "out-of-bounds", .choice(OutOfBounds.allCases.map(\.rawValue)), .defaulted("fail"),
      "what happens where a limit is not kept to"),
  ]

  private let limits: Parameters

  init(_ limits: Parameters) { self.limits = limits }

  /// Every limit that the words do not keep to, in words.
  func breaches(of report: QualityReport, _ transcript: Transcript) -> [String] {
    let untimed = transcript.untimedWordCount
    var breaches: [String] = []
    if let most = limits.untimedWords, untimed > most {
      breaches.append("untimed-words is \(untimed), at most \(most) is allowed")
    }
    func add(_ name: String, _ figure: Double, atMost limit: Double?, _ shown: (Double) -> String) {
      guard let limit, !(figure <= limit) else { return }
      breaches.append("\(name) is \(shown(figure)), at most \(shown(limit)) is allowed")
    }
    add("interpolated", report.interpolated, atMost: limits.interpolated, Self.percent)
    add("uncertain", report.lowConfidence, atMost: limits.uncertain, Self.percent)
    let longest = report.longestWord.map { $0.end - $0.start } ?? 0
    add("longest-word", longest, atMost: limits.longestWord) { Self.decimal($0) + " s" }
    if let least = limits.coverage, !(report.coverage ?? -1 >= least) {
      breaches.append(
        report.coverage.map {
          "coverage is \(Self.percent($0)), at least \(Self.percent(least)) is allowed"
        } ?? "no speech was heard, and \(Self.percent(least)) of it must have words")
    }
    return breaches
  }

  /// Fails, or warns, where the words do not keep to the limits.
  func check(
    _ report: QualityReport, _ transcript: Transcript, warn: (String) -> Void
  ) throws(SpoolError) {
    let breaches = breaches(of: report, transcript)
    guard !breaches.isEmpty else { return }
    let text = breaches.joined(separator: "; ")
    switch limits.outOfBounds {
    case .warn: warn("the words are out of bounds: \(text)")
    case .fail:
      throw SpoolError(
        "the words are out of bounds", reason: text,
        advice: "look at them with wider limits, or with out-of-bounds: warn")
    }
  }

  private static func percent(_ share: Double) -> String { decimal(share * 100) + " %" }

  /// A number with at most one decimal.
  private static func decimal(_ number: Double) -> String {
    let rounded = (number * 10).rounded() / 10
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
  }
}

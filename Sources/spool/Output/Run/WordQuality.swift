import PipelineModel
import Platform

/// Quality of a step's word times as text: one line after a run, a section on its page.
struct WordQuality {
  private let step: String
  private let found: JSONValue
  private let report: JSONValue
  /// The run's name; nil if it is not recorded.
  private let run: String?

  /// Every report among findings, sorted by step.
  static func all(in findings: [String: JSONValue]) -> [WordQuality] {
    findings.sorted { $0.key < $1.key }.compactMap { WordQuality($0.key, $0.value, run: nil) }
  }

  /// The reports of a run, in step order.
  static func all(of run: RunRecord) -> [WordQuality] {
    run.steps.compactMap { step in
      step.foundValue.flatMap { WordQuality(step.id.name, $0, run: run.id.name) }
    }
  }

  /// Nil if the findings contain no words.
  private init?(_ step: String, _ found: JSONValue, run: String?) {
    guard let report = found["quality"], report["words"]?.integer != nil else { return nil }
    (self.step, self.found, self.report, self.run) = (step, found, report, run)
  }

  /// `1,204 timed · 31 interpolated · 18 unsure · longest 1.4 s (thermodynamics) · speech covered 97 %`
  var line: String {
    if isSilent, counts.all == 0 { return Self.silence }
    var parts = [counts.line]
    if let word = longest { parts.append("longest \(word.length) (\(word.text))") }
    if !outliers.isEmpty { parts.append("\(outliers.count) too fast or too slow") }
    if !loops.isEmpty { parts.append("\(loops.count) repeated over and over") }
    if let coverage = number("coverage") { parts.append("speech covered \(percent(coverage))") }
    if isSilent { parts.append(Self.silence) }
    return parts.joined(separator: " · ")
  }

  /// - Parameter isOne: whether the run has no other report.
  func titledLine(isOne: Bool) -> String { "\(isOne ? "words" : "words of \(step)")  \(line)" }

  /// The full report, one figure a line, under the step's name.
  var section: [String] {
    var lines = ["words of \(step)"]
    func add(_ name: String, _ text: String?) {
      if let text { lines.append("  \(Format.pad(name, 16))\(text)") }
    }
    func share(_ name: String) -> String? {
      number(name).map {
        "\(Format.padLeft(Count.grouped(count(name)), 9))   \(Format.padLeft(percent($0), 6))"
      }
    }
    add("timed", share("timed"))
    add("interpolated", share("interpolated"))
    add("without a time", share("untimed"))
    add(
      "unsure",
      share("lowConfidence").map { line in
        counts.unsure == 0 || run == nil
          ? line : "\(line)   spool words show \(run ?? "") --unsure lists those not corrected"
      })
    add("longest", longest.map { "\($0.length)  \($0.text)  at \($0.place)" })
    add(
      "rate",
      number("charactersPerSecond").map { "\(Format.decimal($0, places: 1)) characters a second" })
    add("too fast, slow", places(of: outliers))
    add(
      "over and over",
      loops.isEmpty
        ? nil
        : loops.prefix(3).map { loop in
          "“\(loop["phrase"]?.text ?? "")” \(Count.of(loop["count"]?.integer ?? 0, "time"))"
        }.joined(separator: ", ") + (loops.count > 3 ? ", …" : ""))
    add("speech covered", isSilent ? Self.silence : number("coverage").map(percent))
    add("outside speech", number("outsideSpeech").map { "\(percent($0)) of the words’ time" })
    add("without words", untranscribed)
    add("heard", number("heardShare", in: found).map { "\(percent($0)) of the text" })
    add("not in the text", extraWords)
    return lines
  }

  private static let silence = "no speech was heard"

  /// Whether no speech was found.
  private var isSilent: Bool { number("speech") == 0 }

  private func number(_ name: String, in value: JSONValue? = nil) -> Double? {
    (value ?? report)[name]?.number
  }

  /// The number of words of each kind.
  var counts: Counts {
    Counts(
      all: report["words"]?.integer ?? 0, timed: count("timed"),
      interpolated: count("interpolated"), untimed: count("untimed"),
      unsure: count("lowConfidence"))
  }

  /// The number of words that a share stands for.
  private func count(_ name: String) -> Int {
    Int(((number(name) ?? 0) * Double(report["words"]?.integer ?? 0)).rounded())
  }

  /// `97 %`; with one decimal place close to 0 or 100.
  private func percent(_ share: Double) -> String {
    let isExtreme = share > 0 && share < 0.01 || share > 0.99 && share < 1
    return "\(Format.decimal(100 * share, places: isExtreme ? 1 : 0)) %"
  }

  private var longest: (text: String, length: String, place: String)? {
    guard let word = report["longestWord"], let text = word["text"]?.text,
      let start = number("startTime", in: word), let end = number("endTime", in: word)
    else { return nil }
    let shown = text.count > 30 ? text.prefix(29) + "…" : text[...]
    return (String(shown), "\(Format.decimal(end - start, places: 1)) s", Format.position(start))
  }

  private var outliers: [JSONValue] { report["rateOutliers"]?.list ?? [] }
  private var loops: [JSONValue] { report["loops"]?.list ?? [] }

  private func places(of stretches: [JSONValue]) -> String? {
    guard !stretches.isEmpty else { return nil }
    let times = stretches.compactMap { number("startTime", in: $0) }.map(Format.position)
    return "\(Count.of(stretches.count, "stretch")): at " + times.prefix(5).joined(separator: ", ")
      + (times.count > 5 ? ", …" : "")
  }

  private var untranscribed: String? {
    guard let stretch = report["longestUntranscribed"], let from = number("from", in: stretch),
      let speech = number("speech", in: stretch)
    else { return nil }
    return "\(Format.duration(speech)) of speech at most, from \(Format.position(from))"
  }

  private var extraWords: String? {
    found["extraWords"]?.integer.map { "\(Count.of($0, "word")) heard" }
  }

  /// The number of words of each kind.
  struct Counts: Hashable {
    var all = 0
    var timed = 0
    var interpolated = 0
    var untimed = 0
    var unsure = 0

    mutating func add(_ other: Counts) {
      all += other.all
      timed += other.timed
      interpolated += other.interpolated
      untimed += other.untimed
      unsure += other.unsure
    }

    /// The share of words without a time of their own or with a doubtful one, 0…1.
    var doubtfulShare: Double {
      all > 0 ? min(1, Double(interpolated + untimed + unsure) / Double(all)) : 0
    }

    /// `1,204 timed · 31 interpolated · 18 unsure`
    var line: String {
      var parts = [
        "\(Count.grouped(timed)) timed", "\(Count.grouped(interpolated)) interpolated",
        "\(Count.grouped(unsure)) unsure",
      ]
      if untimed > 0 { parts.append("\(Count.grouped(untimed)) without a time") }
      return parts.joined(separator: " · ")
    }
  }
}

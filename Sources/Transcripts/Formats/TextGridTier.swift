/// A tier of a TextGrid: whose it is, and whether it has words or what is said at once.
struct TextGridTier {
  /// What a tier's intervals are.
  enum Content: String {
    /// Words.
    case words
    /// Segments.
    case segments
  }

  /// A stretch with text, in seconds.
  struct Interval {
    /// Where it begins.
    let start: Double
    /// Where it ends.
    let end: Double
    /// What stands in it.
    let text: String
  }

  /// What its intervals are; nil for sounds and the like, which are not read.
  let content: Content?
  /// Who says what is in it.
  let speaker: String?

  private static let names: [(part: String, content: Content?)] = [
    ("word", .words), ("phone", nil), ("phoneme", nil), ("syllable", nil),
  ]
  private static let plainNames: Set<String> = [
    "", "segments", "segment", "sentences", "sentence", "utterances", "utterance", "phrases",
    "phrase", "text", "transcript", "transcription", "ort", "orthography", "intervals",
  ]

  /// What a name says: `words`, `Amy - words`, `Amy`; a number behind it means nothing.
  init(name: String) {
    var name = WrittenWords.trimmed(name)
    let digits = name.reversed().prefix { $0.isNumber }.count
    let stem = WrittenWords.trimmed(String(name.dropLast(digits)))
    func kind(_ name: String) -> Content?? {
      let lower = name.lowercased()
      if let known = Self.names.first(where: { [$0.part, $0.part + "s"].contains(lower) }) {
        return .some(known.content)
      }
      return Self.plainNames.contains(lower) ? .some(.segments) : nil
    }
    if digits > 0, kind(stem) != nil || stem.contains(" - ") { name = stem }
    if let known = kind(name) {
      self.init(content: known, speaker: nil)
    } else if let dash = name.ranges(of: " - ").last,
      let known = kind(String(name[dash.upperBound...]))
    {
      self.init(content: known, speaker: String(name[..<dash.lowerBound]))
    } else {
      self.init(content: .segments, speaker: name)
    }
  }

  /// A tier of a speaker's.
  init(content: Content?, speaker: String?) {
    self.content = content
    self.speaker = speaker
  }

  /// Its name; the second and those behind it of one name are numbered.
  func name(number: Int) -> String {
    let kind = (content ?? .segments).rawValue
    return (speaker.map { WrittenWords.onOneLine($0) + " - " } ?? "") + kind
      + (number > 1 ? " \(number)" : "")
  }
}

/// A word that was heard.
struct DecodedWord: Hashable, Sendable, Codable {
  /// The word, as the lexicon has it.
  let key: String
  /// When it begins, in milliseconds from the beginning of the sound.
  var start: Int
  /// When it ends, in milliseconds.
  var end: Int
  /// The acoustic score of one frame: the natural logarithm of its likelihood against the best of
  /// all sounds; 0 at best. Without a meaning where only likely sounds were compared.
  let score: Double
  /// The evidence for the anchor run in which it was heard; nil where it was not computed.
  private(set) var evidence: Double?
  /// How well its sounds were pronounced (GOP; Witt and Young 2000): the natural logarithm of what
  /// one frame is likelier than any sounds, on average over its phones; about 0 for what was said,
  /// below -4 for something else. Nil where it was not computed.
  var goodness: Double?

  init(key: String, frames: Range<Int>, score: Double, evidence: Double? = nil) {
    self.key = key
    start = 10 * frames.lowerBound
    end = 10 * frames.upperBound
    self.score = score
    self.evidence = evidence
  }

  /// The goodness, and the score, of what cannot have been said.
  static let unsaid = -100.0

  /// The frames that it touches.
  var frames: Range<Int> { start / 10..<max(start / 10, (end + 9) / 10) }

  /// Its length in frames (10 ms).
  var length: Double { Double(end - start) / 10 }

  /// The same word in sound that begins `frames` earlier.
  func moved(by frames: Int) -> DecodedWord {
    var word = self
    word.start += 10 * frames
    word.end += 10 * frames
    return word
  }
}

extension [DecodedWord] {
  /// The goodness of the worst of them; nil where none was computed.
  var leastGoodness: Double? { compactMap(\.goodness).min() }

  /// The score of a frame on average; nil for no words.
  var meanScore: Double? {
    let length = reduce(0) { $0 + $1.length }
    return length > 0 ? reduce(0) { $0 + $1.score * $1.length } / length : nil
  }
}

/// Evidence that words were heard.
extension DecodedWord {
  /// The score of a frame that speaks neither for words nor against them: anchor runs that are
  /// spoken come to 0.1 in the middle, others to -3.
  private static let neutral = -3.0
  /// What more must speak for a word that stands alone: such words resemble something nearly
  /// everywhere.
  static let loneliness = 50.0

  /// The evidence for it as one word among others: how much likelier it is than neither, over all its
  /// frames, where its score is held against that of any sounds.
  var ownEvidence: Double { (score - Self.neutral) * length }

  /// An anchor run, words that were heard one after the other as a text has them, with its evidence.
  static func judged(_ run: [DecodedWord]) -> [DecodedWord] {
    let sum = run.reduce(0) { $0 + $1.ownEvidence }
    let evidence = run.count > 1 ? sum : sum - loneliness
    return run.map { word in
      var word = word
      word.evidence = evidence
      return word
    }
  }
}

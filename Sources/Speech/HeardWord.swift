/// A word that was heard.
public struct HeardWord: Hashable, Sendable, Codable {
  /// The word, as the lexicon has it.
  public let key: String
  /// When it begins, in milliseconds from the beginning of the sound.
  public var start: Int
  /// When it ends, in milliseconds.
  public var end: Int
  /// The acoustic score of one hundredth: the natural logarithm of its likelihood against the best
  /// of all sounds; 0 at best. Without a meaning where only likely sounds were compared.
  public let score: Double
  /// What speaks for the row of words in which it was heard; nil where nobody asked.
  let evidence: Double?
  /// How well its sounds were pronounced (GOP; Witt and Young 2000): the natural logarithm of what
  /// one hundredth is likelier than any sounds, on average over its phones; about 0 for what was said,
  /// below -4 for something else. Nil where nobody asked.
  var goodness: Double?

  /// Describes what was heard in these hundredths of a second.
  public init(key: String, hundredths: Range<Int>, score: Double) {
    self.init(key: key, hundredths: hundredths, score: score, evidence: nil)
  }

  init(key: String, hundredths: Range<Int>, score: Double, evidence: Double?) {
    self.key = key
    start = 10 * hundredths.lowerBound
    end = 10 * hundredths.upperBound
    self.score = score
    self.evidence = evidence
  }

  /// The goodness of the worst of them; nil where nobody asked for it.
  static func leastGoodness(of words: [HeardWord]) -> Double? {
    words.compactMap(\.goodness).min()
  }

  /// The goodness, and the score, of what cannot have been said.
  static let unsaid = -100.0

  /// The hundredths of a second that it touches.
  var hundredths: Range<Int> { start / 10..<max(start / 10, (end + 9) / 10) }

  /// Its length in hundredths of a second.
  var length: Double { Double(end - start) / 10 }

  /// The same word in sound that begins `hundredths` earlier.
  func moved(by hundredths: Int) -> HeardWord {
    var word = self
    word.start += 10 * hundredths
    word.end += 10 * hundredths
    return word
  }

  /// The score of a hundredth on average; nil for no words.
  static func meanScore(of words: [HeardWord]) -> Double? {
    let length = words.reduce(0) { $0 + $1.length }
    guard length > 0 else { return nil }
    return words.reduce(0) { $0 + $1.score * $1.length } / length
  }
}

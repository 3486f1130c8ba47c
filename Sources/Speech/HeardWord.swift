/// A word that was heard.
public struct HeardWord: Hashable, Sendable, Codable {
  /// The word, as the lexicon has it.
  public let key: String
  /// When it begins, in hundredths of a second from the beginning of the sound.
  public var first: Int
  /// When it ends, in hundredths of a second: the first one after it.
  public var end: Int
  /// The acoustic score of one hundredth: the natural logarithm of its likelihood against the best
  /// of all sounds; 0 at best. Without a meaning where only likely sounds were compared.
  public let score: Double
  /// What speaks for the row of words in which it was heard; nil where nobody asked.
  let evidence: Double?

  /// Describes what was heard.
  public init(key: String, first: Int, end: Int, score: Double) {
    self.init(key: key, first: first, end: end, score: score, evidence: nil)
  }

  init(key: String, first: Int, end: Int, score: Double, evidence: Double?) {
    self.key = key
    self.first = first
    self.end = end
    self.score = score
    self.evidence = evidence
  }

  /// The same word in sound that begins `hundredths` earlier.
  func moved(by hundredths: Int) -> HeardWord {
    HeardWord(
      key: key, first: first + hundredths, end: end + hundredths, score: score, evidence: evidence)
  }

  /// The score of a hundredth on average; nil for no words.
  static func meanScore(of words: [HeardWord]) -> Double? {
    let hundredths = words.reduce(0) { $0 + $1.end - $1.first }
    guard hundredths > 0 else { return nil }
    return words.reduce(0) { $0 + $1.score * Double($1.end - $1.first) } / Double(hundredths)
  }
}

/// A word that was heard.
package struct DecodedWord: Hashable, Sendable, Codable {
  /// The word, as the lexicon has it.
  package let key: String
  /// When it begins, in milliseconds from the beginning of the sound.
  package var start: Int
  /// When it ends, in milliseconds.
  package var end: Int
  /// The acoustic score of one frame: the natural logarithm of its likelihood against the best of
  /// all sounds; 0 at best. Without a meaning where only likely sounds were compared.
  package let score: Double
  /// The evidence for the anchor run in which it was heard; nil where it was not computed.
  let evidence: Double?
  /// How well its sounds were pronounced (GOP; Witt and Young 2000): the natural logarithm of what
  /// one frame is likelier than any sounds, on average over its phones; about 0 for what was said,
  /// below -4 for something else. Nil where it was not computed.
  var goodness: Double?

  package init(key: String, frames: Range<Int>, score: Double) {
    self.init(key: key, frames: frames, score: score, evidence: nil)
  }

  init(key: String, frames: Range<Int>, score: Double, evidence: Double?) {
    self.key = key
    start = 10 * frames.lowerBound
    end = 10 * frames.upperBound
    self.score = score
    self.evidence = evidence
  }

  /// The goodness of the worst of them; nil where none was computed.
  static func leastGoodness(of words: [DecodedWord]) -> Double? {
    words.compactMap(\.goodness).min()
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

  /// The score of a frame on average; nil for no words.
  static func meanScore(of words: [DecodedWord]) -> Double? {
    let length = words.reduce(0) { $0 + $1.length }
    guard length > 0 else { return nil }
    return words.reduce(0) { $0 + $1.score * $1.length } / length
  }
}

/// Words that were heard one after the other as a text has them, without a word between.
struct HeardRow {
  /// The words; their scores are held against those of any sounds.
  let words: [HeardWord]

  /// The score of a hundredth that speaks neither for words nor against them: rows that are spoken
  /// come to 0.1 in the middle, others to -3.
  private static let neutral = -3.0
  /// What more must speak for a word that stands alone: such words resemble something nearly
  /// everywhere.
  static let loneliness = 50.0

  /// What speaks for the words: how much likelier they are than neither, over all their hundredths.
  var evidence: Double {
    let sum = words.reduce(0) { $0 + Self.evidence(of: $1) }
    return words.count > 1 ? sum : sum - Self.loneliness
  }

  /// What speaks for a word, as one among others.
  static func evidence(of word: HeardWord) -> Double { (word.score - neutral) * word.length }

  /// The words, told what speaks for them.
  var judged: [HeardWord] {
    let evidence = evidence
    return words.map {
      HeardWord(
        key: $0.key, hundredths: $0.hundredths, score: $0.score, evidence: evidence)
    }
  }
}

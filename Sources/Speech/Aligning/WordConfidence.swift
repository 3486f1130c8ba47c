import Glibc

/// How sure it is that words were said where they were found: 0 to 1.
///
/// Every word is held against the words of the same recording that were heard in rows: voices, rooms
/// and noises differ more than words that were said differ from others. Where Spool scores the
/// model itself, the goodness of every word is known; else only words that nobody was sure of were
/// judged, and the others get what such words usually have.
struct WordConfidence {
  /// What a row in which a word was heard says of its place.
  enum Row {
    /// Neither found the word where the other did not.
    case agrees
    /// The word was not heard in a row, or not quite there.
    case silent
    /// It was heard elsewhere, or could as well be.
    case contradicts
  }

  /// The goodness that words of this recording have which were heard in rows. Infinite, so that
  /// nothing fits, where none was and most resemble the sound badly: the text is of something else.
  private let usualGoodness: Double
  /// The same of the scores of those that were judged.
  private let usualScore: Double
  /// What speaks against every word because few of the text were heard in rows.
  private let doubt: Double

  /// What both are where nothing is known, and how many words that weighs as much as.
  private static let goodness = -0.7
  /// Goodness that is less, in the middle of words that were heard in rows, is not usual: the rows
  /// are of something else.
  private static let leastGoodness = -1.5
  private static let goodnessWeight = 6.0
  private static let score = -4.0
  /// What the middle one of words scores that are spoken though none of them was heard in a row. Of
  /// 126 texts that nobody speaks, in recordings of up to four seconds, six come to more.
  private static let leastScore = -8.0
  /// What speaks for a word, as a logarithm of odds: by its goodness, by a row, and for any word of a
  /// text. Fitted to 6,000 words of people and of voices, clean, in noise and on the telephone, of
  /// which one in ten had been put in the place of another.
  private static let byGoodness = 0.89
  private static let byRow = 1.8
  private static let byText = 2.6
  /// What speaks against the words of a text of which less than half was heard in rows: so much by
  /// word, as a few words may be in no row, and no more than so much. Of 3,700 texts of a sentence or
  /// less that nobody speaks, in recordings of some seconds, most of them in noise, 290 pass in place
  /// of 470; of 400 that are spoken none is refused for it.
  private static let doubtByWord = 0.15
  private static let mostDoubt = 2.0
  /// What a word has that nobody judged, and the most that one has whose row contradicts it.
  private static let unjudged = 0.7
  private static let contradicted = 0.4

  /// Looks at what was found of the words of a text.
  ///
  /// - Parameters:
  ///   - trusted: the numbers of those that were heard in rows.
  ///   - count: how many words of the text are spoken.
  init(_ plan: AlignmentPlan, _ outcomes: [PieceOutcome], trusted: Set<Int>, of count: Int) {
    var scores: [Double] = []
    var goodness: [Double] = []
    var judged: [Double] = []
    for (piece, outcome) in zip(plan.pieces, outcomes) {
      for (index, word) in piece.words.enumerated() {
        let score = outcome.scores[index]
        if let score { judged.append(score) }
        guard trusted.contains(word) else { continue }
        if let score { scores.append(score) }
        if let good = Self.goodness(of: outcome.words[index]) { goodness.append(good) }
      }
    }
    let isOther =
      scores.isEmpty && goodness.isEmpty && !judged.isEmpty
      && Self.middle(of: judged) < Self.leastScore
    usualScore = isOther ? .infinity : scores.isEmpty ? Self.score : Self.middle(of: scores)
    usualGoodness = isOther ? .infinity : max(Self.leastGoodness, Self.usual(of: goodness))
    let share = Double(trusted.count) / Double(max(1, count))
    doubt = min(Self.mostDoubt, Self.doubtByWord * Double(count)) * max(0, 1 - 2 * share)
  }

  /// How sure it is that a word was said where it was found.
  ///
  /// - Parameters:
  ///   - heard: its parts.
  ///   - score: how well it fits, where that was judged.
  func confidence(of heard: [HeardWord], score: Double?, row: Row) -> Double {
    let confidence: Double
    if score == HeardWord.unsaid {
      confidence = 0
    } else if let goodness = Self.goodness(of: heard) {
      let odds =
        Self.byGoodness * (goodness - usualGoodness) + Self.byText - doubt
        + (row == .agrees ? Self.byRow : 0)
      confidence = 1 / (1 + exp(-odds))
    } else {
      let fit = score.map { 1 / (1 + exp((usualScore - 4 - $0) * 0.9)) } ?? Self.unjudged
      confidence = row == .agrees ? 0.7 + 0.3 * fit : fit
    }
    return row == .contradicts ? min(confidence, Self.contradicted) : confidence
  }

  /// That of a word is that of its worst part: who says `2026` has not said `2025`.
  private static func goodness(of heard: [HeardWord]) -> Double? {
    HeardWord.leastGoodness(of: heard)
  }

  /// The middle one, as far as there are enough of them.
  private static func usual(of goodness: [Double]) -> Double {
    let weight = Double(goodness.count)
    let sum = goodness.isEmpty ? 0 : weight * middle(of: goodness)
    return (sum + goodnessWeight * self.goodness) / (weight + goodnessWeight)
  }

  private static func middle(of values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

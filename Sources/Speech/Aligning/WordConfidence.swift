import Glibc

/// How sure it is that words were said where they were found: 0 to 1.
///
/// Every word is held against those beside it that were heard in rows: voices, rooms and noises differ
/// more than words that were said differ from others. Where Spool scores the model itself, the goodness
/// of every word is known; else only words that nobody was sure of were judged, and the others get what
/// such words usually have.
struct WordConfidence {
  /// What a row in which a word was heard says of its place.
  enum Row {
    /// The word was heard in a row where it was found.
    case agrees
    /// It was not heard in a row, or not quite there.
    case silent
    /// It was heard elsewhere, or could as well be elsewhere.
    case contradicts
  }

  /// The goodness that words have beside each word which were heard in rows.
  private let usual: UsualGoodness
  /// The score that those of them have which were judged. Infinite, so that nothing fits, where none
  /// was heard in a row and most resemble the sound badly: the text is of something else.
  private let usualScore: Double
  /// What speaks against each word of the text because of the others.
  private let doubts: [Double]

  /// The score of words that were heard in rows, where none was judged.
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
  /// So many words on either side speak against a word whose standing is less in the middle: so
  /// strongly, and no more than so much. Who says another sentence than the text has leaves no word
  /// of it, though some sound alike: of people 99 in 100 words of such sentences are found out, in
  /// place of 91, of synthetic voices 95 in place of 74.
  private static let reach = 6
  private static let leastStanding = -1.5
  private static let byStanding = 2.0
  private static let mostOfOthers = 3.0
  /// The standing of a word that was not heard, and what a row adds.
  private static let unheard = -7.0
  private static let standingByRow = 1.5
  /// What a word has that nobody judged, and the most that one has whose row contradicts it.
  private static let unjudged = 0.7
  private static let contradicted = 0.4

  /// Looks at what was found of the words of a text.
  ///
  /// - Parameter trusted: the numbers of those that were heard in rows.
  init(
    of words: [SpokenWord], _ plan: AlignmentPlan, _ outcomes: [PieceOutcome], trusted: Set<Int>
  ) {
    var scores: [Double] = []
    var judged: [Double] = []
    var known: [(word: Int, goodness: Double)] = []
    for (piece, outcome) in zip(plan.pieces, outcomes) {
      for (index, word) in piece.words.enumerated() {
        let score = outcome.scores[index]
        if let score { judged.append(score) }
        guard trusted.contains(word) else { continue }
        if let score { scores.append(score) }
        // That of a word is that of its worst part: who says `2026` has not said `2025`.
        if let goodness = HeardWord.leastGoodness(of: outcome.words[index]) {
          known.append((word, goodness))
        }
      }
    }
    let usual = UsualGoodness(of: known)
    let isOther =
      scores.isEmpty && known.isEmpty && !judged.isEmpty
      && Self.middle(of: judged) < Self.leastScore
    usualScore = isOther ? .infinity : scores.isEmpty ? Self.score : Self.middle(of: scores)
    self.usual = usual
    doubts = Self.doubts(
      of: words, Self.standings(of: words, plan, outcomes, trusted, usual), trusted.count)
  }

  /// What speaks against each word because of the others: few of them were heard in rows, or those
  /// beside it were not said.
  private static func doubts(
    of words: [SpokenWord], _ standings: [Double], _ trustedCount: Int
  ) -> [Double] {
    let spoken = words.indices.filter { words[$0].isSpoken }
    let count = Double(spoken.count)
    let few =
      min(mostDoubt, doubtByWord * count) * max(0, 1 - 2 * Double(trustedCount) / max(1, count))
    let most = min(mostOfOthers, doubtByWord * max(0, count - Double(reach)))
    var doubts = Array(repeating: few, count: words.count)
    for (word, mean) in zip(spoken, meansOfOthers(spoken.map { standings[$0] })) {
      doubts[word] += min(most, max(0, byStanding * (leastStanding - mean)))
    }
    return doubts
  }

  /// By word, how much its goodness is above what is usual beside it.
  private static func standings(
    of words: [SpokenWord], _ plan: AlignmentPlan, _ outcomes: [PieceOutcome],
    _ trusted: Set<Int>, _ usual: UsualGoodness
  ) -> [Double] {
    var standings = Array(repeating: unheard, count: words.count)
    for (piece, outcome) in zip(plan.pieces, outcomes) {
      for (word, heard) in zip(piece.words, outcome.words) where !heard.isEmpty {
        // Where nobody asked for its goodness, it is what is usual.
        let excess = HeardWord.leastGoodness(of: heard).map { $0 - usual.beside(word) } ?? 0
        let row = trusted.contains(word) ? standingByRow : 0
        standings[word] = max(unheard, excess + row)
      }
    }
    return standings
  }

  /// For each word the mean of the others within reach.
  private static func meansOfOthers(_ standings: [Double]) -> [Double] {
    standings.indices.map { word in
      let near = standings[max(0, word - reach)...min(standings.count - 1, word + reach)]
      guard near.count > 1 else { return 0 }
      return (near.reduce(0, +) - standings[word]) / Double(near.count - 1)
    }
  }

  /// How sure it is that a word was said where it was found.
  ///
  /// - Parameters:
  ///   - word: its number.
  ///   - heard: its parts.
  ///   - score: how well it fits, where that was judged.
  func confidence(of word: Int, heard: [HeardWord], score: Double?, row: Row) -> Double {
    let confidence: Double
    if score == HeardWord.unsaid || usualScore == .infinity {
      confidence = 0
    } else if let goodness = HeardWord.leastGoodness(of: heard) {
      let odds =
        Self.byGoodness * (goodness - usual.beside(word)) + Self.byText - doubts[word]
        + (row == .agrees ? Self.byRow : 0)
      confidence = 1 / (1 + exp(-odds))
    } else {
      let fit = score.map { 1 / (1 + exp((usualScore - 4 - $0) * 0.9)) } ?? Self.unjudged
      confidence = row == .agrees ? 0.7 + 0.3 * fit : fit
    }
    return row == .contradicts ? min(confidence, Self.contradicted) : confidence
  }

  private static func middle(of values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

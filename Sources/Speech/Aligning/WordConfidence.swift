import Glibc

/// How sure it is that words were said where they were found: 0 to 1.
///
/// Every word is held against those beside it that were heard in rows: voices, rooms and noises differ
/// more than words that were said differ from others. Where Spool scores the
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

  /// The numbers and the goodness of words that were heard in rows, in order.
  private let known: [(word: Int, goodness: Double)]
  /// The goodness that they have in the whole recording.
  private let usualGoodness: Double
  /// The score that those of them have which were judged. Infinite, so that nothing fits, where none
  /// was heard in a row and most resemble the sound badly: the text is of something else.
  private let usualScore: Double
  /// What speaks against every word because few of the text were heard in rows.
  private let doubt: Double

  /// What both are where nothing is known, and how many words that weighs as much as.
  private static let goodness = -0.7
  /// Goodness that is less, in the middle of words that were heard in rows, is not usual: the rows
  /// are of something else.
  private static let leastGoodness = -3.0
  /// So many of the words that were heard in rows, on either side, tell what is usual beside them.
  private static let neighbours = 20
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
    var known: [(word: Int, goodness: Double)] = []
    var judged: [Double] = []
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
    let isOther =
      scores.isEmpty && known.isEmpty && !judged.isEmpty
      && Self.middle(of: judged) < Self.leastScore
    usualScore = isOther ? .infinity : scores.isEmpty ? Self.score : Self.middle(of: scores)
    usualGoodness = Self.usual(of: known[...], orElse: Self.goodness)
    self.known = known
    let share = Double(trusted.count) / Double(max(1, count))
    doubt = min(Self.mostDoubt, Self.doubtByWord * Double(count)) * max(0, 1 - 2 * share)
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
        Self.byGoodness * (goodness - usual(beside: word)) + Self.byText - doubt
        + (row == .agrees ? Self.byRow : 0)
      confidence = 1 / (1 + exp(-odds))
    } else {
      let fit = score.map { 1 / (1 + exp((usualScore - 4 - $0) * 0.9)) } ?? Self.unjudged
      confidence = row == .agrees ? 0.7 + 0.3 * fit : fit
    }
    return row == .contradicts ? min(confidence, Self.contradicted) : confidence
  }

  /// The usual goodness of words beside one.
  ///
  /// Complexity: O(log *n*) in the number of words that were heard in rows.
  private func usual(beside word: Int) -> Double {
    var place = 0
    var end = known.count
    while place < end {
      let middle = (place + end) / 2
      if known[middle].word < word { place = middle + 1 } else { end = middle }
    }
    let first = max(0, place - Self.neighbours)
    let near = known[first..<min(known.count, place + Self.neighbours)]
    return max(Self.leastGoodness, Self.usual(of: near, orElse: usualGoodness))
  }

  /// The middle one, as far as there are enough of them.
  private static func usual(
    of known: ArraySlice<(word: Int, goodness: Double)>, orElse other: Double
  ) -> Double {
    let weight = Double(known.count)
    let sum = known.isEmpty ? 0 : weight * middle(of: known.map(\.goodness))
    return (sum + goodnessWeight * other) / (weight + goodnessWeight)
  }

  private static func middle(of values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

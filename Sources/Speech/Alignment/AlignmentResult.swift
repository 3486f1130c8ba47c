import Glibc
import Transcripts

/// The words of a text in their places, and how well the text belongs to the recording.
package struct AlignmentResult: Sendable {
  /// The words, in order; every one of the text.
  package let words: [AlignedWord]
  /// The share of the spoken words that were heard: 0 to 1.
  package let share: Double
  /// How many words were heard that the text does not have.
  package let extraWordCount: Int

  /// Half a frame: the model's frames are numbered by their beginnings, and stand for their
  /// middles.
  private static let centre = 0.005
  /// A word that was heard in an anchor run was found at the same place if no further away, in
  /// seconds, and at another if so far away.
  private static let agreement = 0.08
  private static let contradiction = 0.5
  /// A word without a place takes no more than this, in seconds.
  private static let longestGuess = 0.6

  init(
    words: [SpokenWord], plan: AlignmentPlan, outcomes: [UnanchoredSegment.Outcome],
    trusted: [AnchorWord],
    heardCount: Int, frameCount: Int
  ) {
    let trustedPlaces = Dictionary(
      uniqueKeysWithValues: trusted.map { ($0.word, Double($0.place.lowerBound) / 100) })
    let contested = Set(trusted.filter(\.isContested).map(\.word))
    let spoken = words.indices.filter { words[$0].isSpoken }
    let judge = WordConfidence(of: words, plan, outcomes, trusted: Set(trustedPlaces.keys))
    var places: [AlignedWord?] = Array(repeating: nil, count: words.count)
    for (piece, outcome) in zip(plan.pieces, outcomes) {
      for ((word, heard), score) in zip(zip(piece.words, outcome.words), outcome.scores) {
        guard let first = heard.first, let last = heard.last else { continue }
        let start = Double(first.start) / 1000
        let row: WordConfidence.Row =
          switch contested.contains(word)
            ? Self.contradiction : trustedPlaces[word].map({ abs($0 - start) })
          {
          case .some(..<Self.agreement): .agrees
          case .some(Self.contradiction...): .contradicts
          default: .silent
          }
        places[word] = AlignedWord(
          start: start + Self.centre, end: Double(last.end) / 1000 + Self.centre,
          confidence: judge.confidence(of: word, heard: heard, score: score, row: row),
          isHeard: true)
      }
    }
    let found = spoken.filter { places[$0]?.confidence ?? 0 >= 0.5 }
    share = spoken.isEmpty ? 0 : Double(found.count) / Double(spoken.count)
    extraWordCount = max(0, heardCount - trusted.reduce(0) { $0 + $1.heard.count })
    self.words = Self.fill(places, end: Double(frameCount) / 100)
  }

  /// Words with the places that were found for them; a word that is likely where it was found counts
  /// as heard.
  init(places: [AlignedWord?], isSpoken: [Bool], end: Double) {
    let spoken = isSpoken.count { $0 }
    let found = places.count { $0?.confidence ?? 0 >= 0.5 }
    share = spoken == 0 ? 0 : Double(found) / Double(spoken)
    extraWordCount = 0
    words = Self.fill(places, end: end)
  }

  /// Gives words that were not heard places between their neighbours.
  private static func fill(_ places: [AlignedWord?], end: Double) -> [AlignedWord] {
    var filled: [AlignedWord] = []
    filled.reserveCapacity(places.count)
    var index = 0
    while index < places.count {
      if let place = places[index] {
        filled.append(place)
        index += 1
        continue
      }
      let next = places[index...].firstIndex { $0 != nil } ?? places.count
      let from = filled.last?.end ?? 0
      let to = max(from, next < places.count ? places[next]?.start ?? end : end)
      let step = min((to - from) / Double(next - index), longestGuess)
      for number in 0..<next - index {
        filled.append(
          AlignedWord(
            start: from + step * Double(number), end: from + step * Double(number + 1),
            confidence: 0, isHeard: false))
      }
      index = next
    }
    return filled
  }
}

/// A word of a text with its place in a recording.
package struct AlignedWord: Hashable, Sendable {
  /// When it begins, in seconds.
  package var start: Double
  /// When it ends, in seconds.
  package var end: Double
  /// How sure its place is: 0 to 1.
  package var confidence: Double
  /// Whether it was heard there; where not, its place was made up from its neighbours'.
  package var isHeard: Bool

  package init(start: Double, end: Double, confidence: Double, isHeard: Bool) {
    self.start = start
    self.end = end
    self.confidence = confidence
    self.isHeard = isHeard
  }
}

/// How far an alignment is: what was heard and found so far. Interrupted work resumes from it with
/// the same result.
package struct AlignmentProgress: Hashable, Sendable, Codable {
  /// What was heard in each piece of the listening plan; nil where it is not decoded yet.
  var heard: [[DecodedWord]?] = []
  /// Where the words of each piece of the alignment plan are; nil where that is not known yet.
  var aligned: [UnanchoredSegment.Outcome?] = []

  /// How much of the work is done: 0 to 1.
  package var share: Double {
    func share<Item>(_ items: [Item?]) -> Double {
      items.isEmpty ? 0 : Double(items.count { $0 != nil }) / Double(items.count)
    }
    return 0.6 * share(heard) + 0.4 * share(aligned)
  }

  package init() {}
}

/// How sure it is that words were said where they were found: 0 to 1.
///
/// Every word is held against those beside it that were heard in anchor runs: voices, rooms and
/// noises differ more than words that were said differ from others. Where Spool scores the model
/// itself, the goodness of every word is known; else only words without an anchor were judged, and
/// the others get what such words usually have.
private struct WordConfidence {
  /// What an anchor run in which a word was heard says of its place.
  enum Row {
    /// The word was heard in an anchor run where it was found.
    case agrees
    /// It was not heard in an anchor run, or not quite there.
    case silent
    /// It was heard elsewhere, or could as well be elsewhere.
    case contradicts
  }

  /// The goodness that words have beside each word which were heard in anchor runs.
  private let usual: GOPBaseline
  /// The score that those of them have which were judged. Infinite, so that nothing fits, where
  /// none was heard in an anchor run and most resemble the sound badly: the text is of something
  /// else.
  private let usualScore: Double
  /// The evidence against each word of the text because of the others.
  private let doubts: [Double]

  /// The score of words that were heard in anchor runs, where none was judged.
  private static let score = -4.0
  /// What the middle one of words scores that are spoken though none of them was heard in an anchor
  /// run. Of 126 texts that are not spoken, in recordings of up to four seconds, six come to more.
  private static let leastScore = -8.0
  /// The evidence for a word, as a logarithm of odds: by its goodness, by an anchor run, and for
  /// any word of a text. Fitted to 6,000 words of people and of voices, clean, in noise and on the
  /// telephone, of which one in ten had been put in the place of another.
  private static let byGoodness = 0.89
  private static let byRow = 1.8
  private static let byText = 2.6
  /// The evidence against the words of a text of which less than half was heard in anchor runs: so
  /// much by word, as a few words may be in no anchor run, and no more than so much. Of 3,700 texts
  /// of a sentence or less that are not spoken, in recordings of some seconds, most of them in
  /// noise, 290 pass in place of 470; of 400 that are spoken none is refused for it.
  private static let doubtByWord = 0.15
  private static let mostDoubt = 2.0
  /// So many words on either side speak against a word whose confidence is less in the middle: so
  /// strongly, and no more than so much. A speaker of another sentence than the text leaves no word
  /// of it, though some sound alike: of people 99 in 100 words of such sentences are found out, in
  /// place of 91, of synthetic voices 95 in place of 74.
  private static let reach = 6
  private static let leastStanding = -1.5
  private static let byStanding = 2.0
  private static let mostOfOthers = 3.0
  /// The confidence of a word that was not heard, and what an anchor run adds.
  private static let unheard = -7.0
  private static let standingByRow = 1.5
  /// The confidence of a word that was not judged, and the most that one has whose anchor run
  /// contradicts it.
  private static let unjudged = 0.7
  private static let contradicted = 0.4

  /// Looks at what was found of the words of a text.
  ///
  /// - Parameter trusted: the numbers of those that were heard in anchor runs.
  init(
    of words: [SpokenWord], _ plan: AlignmentPlan, _ outcomes: [UnanchoredSegment.Outcome],
    trusted: Set<Int>
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
        // A word is as good as its worst part: `2026` is not `2025`.
        if let goodness = outcome.words[index].leastGoodness {
          known.append((word, goodness))
        }
      }
    }
    let usual = GOPBaseline(of: known)
    let isOther =
      scores.isEmpty && known.isEmpty && !judged.isEmpty
      && Self.middle(of: judged) < Self.leastScore
    usualScore = isOther ? .infinity : scores.isEmpty ? Self.score : Self.middle(of: scores)
    self.usual = usual
    doubts = Self.doubts(
      of: words, Self.standings(of: words, plan, outcomes, trusted, usual), trusted.count)
  }

  /// The evidence against each word because of the others: few of them were heard in anchor runs,
  /// or those beside it were not said.
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
    of words: [SpokenWord], _ plan: AlignmentPlan, _ outcomes: [UnanchoredSegment.Outcome],
    _ trusted: Set<Int>, _ usual: GOPBaseline
  ) -> [Double] {
    var standings = Array(repeating: unheard, count: words.count)
    for (piece, outcome) in zip(plan.pieces, outcomes) {
      for (word, heard) in zip(piece.words, outcome.words) where !heard.isEmpty {
        // Without a goodness of its own it has the usual one.
        let excess = heard.leastGoodness.map { $0 - usual.beside(word) } ?? 0
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
  func confidence(of word: Int, heard: [DecodedWord], score: Double?, row: Row) -> Double {
    let confidence: Double
    if score == DecodedWord.unsaid || usualScore == .infinity {
      confidence = 0
    } else if let goodness = heard.leastGoodness {
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

/// The goodness that words have which were heard in anchor runs, beside each word of a text:
/// speakers, rooms and noises change in a recording.
private struct GOPBaseline {
  /// The numbers and the goodness of words that were heard in anchor runs, in order.
  private let known: [(word: Int, goodness: Double)]
  /// What is usual in the whole recording.
  private let whole: Double

  /// What is usual where nothing is known, and how many words that weighs as much as.
  private static let prior = -0.7
  private static let weight = 6.0
  /// Goodness that is less, in the middle of words that were heard in anchor runs, is not usual:
  /// the anchor runs are of something else.
  private static let least = -3.0
  /// So many of the words that were heard in anchor runs, on either side, tell what is usual beside
  /// them.
  private static let neighbours = 20

  /// Takes the numbers and the goodness of words that were heard in anchor runs, in order.
  init(of known: [(word: Int, goodness: Double)]) {
    self.known = known
    whole = Self.usual(of: known[...], orElse: Self.prior)
  }

  /// What is usual beside a word.
  ///
  /// Complexity: O(log *n*) in the number of words that were heard in anchor runs.
  func beside(_ word: Int) -> Double {
    let place = known.partitioningIndex(where: { $0.word >= word })
    let near = max(0, place - Self.neighbours)..<min(known.count, place + Self.neighbours)
    return max(Self.least, Self.usual(of: known[near], orElse: whole))
  }

  /// The middle one, as far as there are enough of them.
  private static func usual(
    of known: ArraySlice<(word: Int, goodness: Double)>, orElse other: Double
  ) -> Double {
    guard !known.isEmpty else { return other }
    let count = Double(known.count)
    let middle = known.map(\.goodness).sorted()[known.count / 2]
    return (count * middle + weight * other) / (count + weight)
  }
}

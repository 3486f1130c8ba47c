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
    words: [SpokenWord], plan: AlignmentPlan, outcomes: [PieceOutcome], trusted: [AnchorWord],
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
  var aligned: [PieceOutcome?] = []

  /// How much of the work is done: 0 to 1.
  package var share: Double {
    func share<Item>(_ items: [Item?]) -> Double {
      items.isEmpty ? 0 : Double(items.count { $0 != nil }) / Double(items.count)
    }
    return 0.6 * share(heard) + 0.4 * share(aligned)
  }

  package init() {}
}

/// What came of aligning a piece.
struct PieceOutcome: Hashable, Codable {
  /// What was heard of each of its words; empty where nothing was.
  var words: [[DecodedWord]]
  /// How well each word fits, as far as that was asked: the acoustic score of a frame.
  var scores: [Double?]
}

import Glibc

/// What the outcomes of all blocks say about each word.
struct SyntheticEvidence {
  private let outcomes: [SyntheticOutcome]
  /// What a way costs, and what it would cost by chance, of all blocks.
  private let cost: Double
  private let chance: Double
  /// The middle of the words' distances.
  private let usual: Double

  /// Every block is judged as if there were so much of the others' evidence beside its own, as costs
  /// in hundredths: five seconds'.
  private static let prior = 30_000.0
  /// Texts that people do not speak cost 0.96 to 1.04 of what they would by chance, those that they do
  /// 0.67 to 0.87. Of synthetic clips of three seconds wrong texts may come down to 0.82.
  private static let limit = 0.9

  init(_ outcomes: [SyntheticOutcome]) {
    self.outcomes = outcomes
    cost = outcomes.reduce(0) { $0 + Double($1.cost) }
    chance = outcomes.reduce(0) { $0 + Double($1.chance) }
    let distances = outcomes.flatMap { $0.words.map { Double($0[3]) / 1000 } }.sorted()
    usual = distances.isEmpty ? 0 : distances[distances.count / 2]
  }

  /// The words in their places.
  func result(isSpoken: [Bool], hundredths: Int) -> AlignmentResult {
    var places: [AlignedWord?] = Array(repeating: nil, count: isSpoken.count)
    for outcome in outcomes {
      let belief = belief(in: outcome)
      for word in outcome.words where word.count == 4 && isSpoken.indices.contains(word[0]) {
        let confidence = belief * likeness(of: Double(word[3]) / 1000)
        let start = Double(word[1]) / 100
        let end = Double(word[2]) / 100
        if var known = places[word[0]] {
          // A part of a word that was too long to be spoken in one go.
          known.end = max(known.end, end)
          known.confidence = min(known.confidence, confidence)
          places[word[0]] = known
        } else {
          places[word[0]] = AlignedWord(
            start: start, end: end, confidence: confidence, isHeard: true)
        }
      }
    }
    return AlignmentResult(
      places: inOrder(places), isSpoken: isSpoken, end: Double(hundredths) / 100)
  }

  /// How likely a block is spoken where it was found: 0 to 1.
  private func belief(in outcome: SyntheticOutcome) -> Double {
    guard chance > 0 else { return 0 }
    let ratio =
      (Double(outcome.cost) + Self.prior * cost / chance) / (Double(outcome.chance) + Self.prior)
    return 1 / (1 + exp((ratio - Self.limit) * 80))
  }

  /// How much the sound resembles a word, against the others: 0 to 1.
  private func likeness(of distance: Double) -> Double {
    1 / (1 + exp((distance - 2 * usual) * 4 / max(usual, 0.01)))
  }

  /// No word begins before the one before it, nor ends behind the beginning of the next.
  private func inOrder(_ places: [AlignedWord?]) -> [AlignedWord?] {
    var places = places
    var last: Int?
    for index in places.indices {
      guard var place = places[index] else { continue }
      if let last, var before = places[last] {
        place.start = max(place.start, before.start)
        place.end = max(place.end, place.start)
        before.end = min(before.end, place.start)
        places[last] = before
      }
      places[index] = place
      last = index
    }
    return places
  }
}

import Glibc

/// The words of a text in their places, and how well the text belongs to the recording.
public struct AlignmentResult: Sendable {
  /// The words, in order; every one of the text.
  public let words: [AlignedWord]
  /// The share of the spoken words that were heard: 0 to 1.
  public let share: Double
  /// How many words were heard that the text does not have.
  public let extraWordCount: Int

  /// Half of a hundredth: the model's frames are told by their beginning, and mean their middle.
  private static let centre = 0.005
  /// A word that was heard in a row, and was placed so far from there, in seconds, may be wrong.
  private static let contradiction = 0.5
  /// The usual score where no word was judged that is beyond doubt.
  private static let known = -4.0
  /// What the middle one of words scores that are spoken though none of them is beyond doubt. Of 126
  /// texts that nobody speaks, in recordings of up to four seconds, six come to more.
  private static let leastUnheard = -8.0
  /// A word without a place takes no more than this, in seconds.
  private static let longestGuess = 0.6

  init(
    words: [SpokenWord], plan: AlignmentPlan, outcomes: [PieceOutcome], trusted: [TrustedWord],
    heardCount: Int, hundredths: Int
  ) {
    let trustedPlaces = Dictionary(
      uniqueKeysWithValues: trusted.map { ($0.word, Double($0.place.lowerBound) / 100) })
    let contested = Set(trusted.filter(\.isContested).map(\.word))
    let usual = Self.usualScore(plan, outcomes, trusted: trustedPlaces)
    var places: [AlignedWord?] = Array(repeating: nil, count: words.count)
    for (piece, outcome) in zip(plan.pieces, outcomes) {
      for ((word, heard), score) in zip(zip(piece.words, outcome.words), outcome.scores) {
        guard let first = heard.first, let last = heard.last else { continue }
        let start = Double(first.start) / 1000
        let distance = trustedPlaces[word].map { abs($0 - start) }
        let fit = score.map { Self.fit(of: $0, usual: usual) } ?? 0.7
        let confidence =
          switch contested.contains(word) ? Self.contradiction : distance {
          // Two that do not know of each other agree on the place, or contradict each other.
          case .some(..<0.08): 0.7 + 0.3 * fit
          case .some(Self.contradiction...): min(fit, 0.4)
          default: fit
          }
        places[word] = AlignedWord(
          start: start + Self.centre, end: Double(last.end) / 1000 + Self.centre,
          confidence: confidence, isHeard: true)
      }
    }
    let spoken = words.indices.filter { words[$0].isSpoken }
    let found = spoken.filter { places[$0]?.confidence ?? 0 >= 0.5 }
    share = spoken.isEmpty ? 0 : Double(found.count) / Double(spoken.count)
    extraWordCount = max(0, heardCount - trusted.reduce(0) { $0 + $1.heard.count })
    self.words = Self.fill(places, end: Double(hundredths) / 100)
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

  /// The score that words of this recording have which are beyond doubt: recordings differ more
  /// than words do. Infinite, so that nothing fits, where none is and most resemble the sound badly:
  /// the text is of something else.
  private static func usualScore(
    _ plan: AlignmentPlan, _ outcomes: [PieceOutcome], trusted: [Int: Double]
  ) -> Double {
    var scores: [Double] = []
    for (piece, outcome) in zip(plan.pieces, outcomes) {
      for (word, score) in zip(piece.words, outcome.scores) where trusted[word] != nil {
        if let score { scores.append(score) }
      }
    }
    if trusted.isEmpty {
      let all = outcomes.flatMap(\.scores).compactMap(\.self).sorted()
      return all.isEmpty || all[all.count / 2] >= leastUnheard ? known : .infinity
    }
    scores.sort()
    return scores.isEmpty ? known : scores[scores.count / 2]
  }

  /// How much the sound resembles a word, against words that are beyond doubt: 0 to 1.
  private static func fit(of score: Double, usual: Double) -> Double {
    1 / (1 + exp((usual - 4 - score) * 0.9))
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

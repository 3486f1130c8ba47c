/// The goodness that words have which were heard in rows, beside each word of a text: speakers, rooms
/// and noises change in a recording.
struct UsualGoodness {
  /// The numbers and the goodness of words that were heard in rows, in order.
  private let known: [(word: Int, goodness: Double)]
  /// What is usual in the whole recording.
  private let whole: Double

  /// What is usual where nothing is known, and how many words that weighs as much as.
  private static let prior = -0.7
  private static let weight = 6.0
  /// Goodness that is less, in the middle of words that were heard in rows, is not usual: the rows
  /// are of something else.
  private static let least = -3.0
  /// So many of the words that were heard in rows, on either side, tell what is usual beside them.
  private static let neighbours = 20

  /// Takes the numbers and the goodness of words that were heard in rows, in order.
  init(of known: [(word: Int, goodness: Double)]) {
    self.known = known
    whole = Self.usual(of: known[...], orElse: Self.prior)
  }

  /// What is usual beside a word.
  ///
  /// Complexity: O(log *n*) in the number of words that were heard in rows.
  func beside(_ word: Int) -> Double {
    var place = 0
    var end = known.count
    while place < end {
      let middle = (place + end) / 2
      if known[middle].word < word { place = middle + 1 } else { end = middle }
    }
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

/// Which of the words that were heard are which words of a text.
///
/// Words that were heard nowhere in the text and words of the text that were not heard are left
/// over; the order is kept. Phrases that occur once in each are found first, then what lies
/// between them is compared word by word.
public struct WordMatching: Sendable {
  /// For each word of the text, the number of the heard word that it is.
  public private(set) var heard: [Int?]

  /// Stretches of no more pairs of words are compared word by word at once: a phrase that was heard
  /// in a wrong place, and occurs once, would part them wrongly.
  private static let fewPairs = 1_000_000
  /// How many pairs of words are compared at most between two phrases; beyond, the stretch stays
  /// unmatched.
  private static let mostPairs = 16_000_000

  /// Matches words by their keys.
  ///
  /// Complexity: O(*n* log *n*) where phrases are found every few words; between them the product
  /// of the lengths.
  public init(text: [String], heard keys: [String]) {
    heard = Array(repeating: nil, count: text.count)
    match(text, text.indices, keys, keys.indices, phrase: 4)
  }

  /// How many words of the text were heard.
  public var count: Int { heard.count { $0 != nil } }

  /// Matches a stretch of the text with a stretch of what was heard.
  private mutating func match(
    _ text: [String], _ words: Range<Int>, _ keys: [String], _ sounds: Range<Int>, phrase: Int
  ) {
    guard !words.isEmpty, !sounds.isEmpty else { return }
    guard words.count * sounds.count > Self.fewPairs, phrase > 1 else {
      compare(text, words, keys, sounds)
      return
    }
    let anchors = Self.anchors(text, words, keys, sounds, phrase: phrase)
    var word = words.lowerBound
    var sound = sounds.lowerBound
    for anchor in anchors + [(words.upperBound, sounds.upperBound)] {
      match(text, word..<anchor.0, keys, sound..<anchor.1, phrase: phrase - 1)
      guard anchor.0 < words.upperBound, anchor.1 < sounds.upperBound else { break }
      heard[anchor.0] = anchor.1
      word = anchor.0 + 1
      sound = anchor.1 + 1
    }
  }

  /// Where phrases begin that occur once in either, in an order that both agree on.
  private static func anchors(
    _ text: [String], _ words: Range<Int>, _ keys: [String], _ sounds: Range<Int>, phrase: Int
  ) -> [(Int, Int)] {
    let inText = onlyPlaces(text, words, phrase)
    let inSound = onlyPlaces(keys, sounds, phrase)
    let pairs = inText.compactMap { key, place in inSound[key].map { (place, $0) } }
      .sorted { $0.0 < $1.0 }
    return longestRising(pairs)
  }

  /// The places of phrases that occur once.
  private static func onlyPlaces(
    _ words: [String], _ range: Range<Int>, _ phrase: Int
  ) -> [ArraySlice<String>: Int] {
    guard range.count >= phrase else { return [:] }
    var places: [ArraySlice<String>: Int?] = [:]
    for place in range.lowerBound...range.upperBound - phrase {
      let key = words[place..<place + phrase]
      places.updateValue(places[key] == nil ? place : .none, forKey: key)
    }
    return places.compactMapValues { $0 }
  }

  /// The most pairs whose second members rise as well.
  private static func longestRising(_ pairs: [(Int, Int)]) -> [(Int, Int)] {
    var ends: [Int] = []  // of a chain of each length, the pair that ends it lowest
    var before: [Int?] = Array(repeating: nil, count: pairs.count)
    for (index, pair) in pairs.enumerated() {
      var low = 0
      var high = ends.count
      while low < high {
        let middle = (low + high) / 2
        if pairs[ends[middle]].1 < pair.1 { low = middle + 1 } else { high = middle }
      }
      before[index] = low > 0 ? ends[low - 1] : nil
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var chain: [(Int, Int)] = []
    var next = ends.last
    while let index = next {
      chain.append(pairs[index])
      next = before[index]
    }
    return chain.reversed()
  }

  /// Compares every word with every other: the most that agree in order, and of these the ones
  /// that follow each other closely.
  private mutating func compare(
    _ text: [String], _ words: Range<Int>, _ keys: [String], _ sounds: Range<Int>
  ) {
    let columns = sounds.count + 1
    guard (words.count + 1) * columns <= Self.mostPairs else { return }
    /// What an agreement counts: two, and one more where the words after it agree as well.
    func worth(_ row: Int, _ column: Int) -> Int32? {
      guard text[words.lowerBound + row] == keys[sounds.lowerBound + column] else { return nil }
      let goesOn =
        row + 1 < words.count && column + 1 < sounds.count
        && text[words.lowerBound + row + 1] == keys[sounds.lowerBound + column + 1]
      return goesOn ? 3 : 2
    }
    var scores = [Int32](repeating: 0, count: (words.count + 1) * columns)
    for row in words.indices.reversed().map({ $0 - words.lowerBound }) {
      for column in sounds.indices.reversed().map({ $0 - sounds.lowerBound }) {
        let here = row * columns + column
        let agreed = worth(row, column).map { scores[here + columns + 1] + $0 } ?? 0
        scores[here] = max(agreed, scores[here + 1], scores[here + columns])
      }
    }
    var row = 0
    var column = 0
    while row < words.count, column < sounds.count {
      let here = row * columns + column
      if let worth = worth(row, column), scores[here] == scores[here + columns + 1] + worth {
        heard[words.lowerBound + row] = sounds.lowerBound + column
        row += 1
        column += 1
      } else if scores[here + columns] >= scores[here + 1] {
        row += 1
      } else {
        column += 1
      }
    }
  }
}

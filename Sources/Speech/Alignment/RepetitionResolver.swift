import Transcripts

/// Which heard words are which words of a text, where phrases that were heard or written twice are
/// taken from one reading each.
struct RepetitionResolver {
  /// The words of the text; those count as not spoken that are there once more than they were heard.
  let words: [SpokenWord]
  /// For each word, the numbers of its keys among all of the text.
  let keys: [Range<Int>]
  /// For each key of the text, the number of the heard word that it is.
  let heard: [Int?]
  /// The keys with which a reading begins behind another one of the same words, and where that one
  /// ends, in frames (10 ms).
  let beginnings: [Int: Int]
  /// The keys that may be of either of two readings.
  let doubtful: Set<Int>

  /// How much time may pass beside the words of another reading, in frames, and how much more for
  /// each frame of them: pauses, and a remark. More is speech of which the text has nothing, and
  /// what is the same at both of its ends is so by chance.
  private static let pauses = 50.0
  private static let remarks = 1.0
  /// How many words there may be beside those of another copy, for each of them.
  private static let changes = 1.0

  /// Decides for one reading of every phrase.
  ///
  /// Complexity: that of comparing the text with what was heard.
  ///
  /// - Parameters:
  ///   - words: the text.
  ///   - sounds: what was heard.
  ///   - limit: what may be of the text.
  ///   - loud: for how many of some frames there is more than silence.
  init(
    of words: [SpokenWord], in sounds: [DecodedWord], _ limit: RunLimit,
    loud: (Range<Int>) -> Int
  ) {
    let text = words.flatMap { $0.variants.first ?? [] }
    // What is not allowed stands between other words, and is none of the text.
    let allowed = sounds.map { limit.allows($0) ? $0.key : "" }
    let matching = WordMatching(text: text, heard: allowed)
    let spoken = RepeatedReadings(of: text, in: allowed, matches: matching.heard) { gap, echoes in
      let time = sounds[gap.upperBound].start - sounds[gap.lowerBound - 1].end
      let echo = echoes.reduce(0) { $0 + sounds[$1].length }
      return Double(time) / 10 - echo <= Self.pauses + Self.remarks * echo
    } isBeginning: {
      Self.isBehindPause($0, sounds)
    }
    let starts = spoken.seams.compactMap { key, echo in
      Self.start(at: key, behind: echo, heard: spoken.matches, sounds, loud: loud)
        .map { (key: key, end: $0.end, doubtful: $0.doubtful) }
    }
    beginnings = Dictionary(uniqueKeysWithValues: starts.map { ($0.key, $0.end) })
    doubtful = spoken.doubtful.union(starts.flatMap(\.doubtful))

    let written = RepeatedReadings(
      of: allowed, in: text, matches: Self.inverse(of: spoken.matches, count: sounds.count)
    ) { gap, echoes in
      Double(gap.count - echoes.count) <= Self.changes * Double(echoes.count)
    } isBeginning: { _ in
      true
    }
    heard = Self.inverse(of: written.matches, count: text.count)
    let keys = Self.keys(of: words)
    let copies = Self.copies(in: written)
    self.keys = keys
    self.words = zip(words, keys).map { word, keys in
      word.isSpoken && keys.allSatisfy(copies.contains) ? SpokenWord(variants: []) : word
    }
  }

  /// For each of so many, which one has its number.
  private static func inverse(of matches: [Int?], count: Int) -> [Int?] {
    var inverse: [Int?] = Array(repeating: nil, count: count)
    for (number, match) in matches.enumerated() {
      if let match { inverse[match] = number }
    }
    return inverse
  }

  /// The numbers of the keys of each word.
  private static func keys(of words: [SpokenWord]) -> [Range<Int>] {
    var end = 0
    return words.map { word in
      let start = end
      end += word.variants.first?.count ?? 0
      return start..<end
    }
  }

  /// The keys of the text that stand between two that were heard one after the other, and are there once
  /// more.
  private static func copies(in written: RepeatedReadings) -> Set<Int> {
    var copies: Set<Int> = []
    for sound in written.seams.keys {
      guard let next = written.matches[sound],
        let last = written.matches[..<sound].last(where: { $0 != nil }), let last
      else { continue }
      copies.formUnion(last + 1..<max(next, last + 1))
    }
    return copies
  }
}

/// Where one of several readings of the same words begins, as far as it was understood.
extension RepetitionResolver {
  /// A pause that may part two readings, in milliseconds.
  private static let pause = 60
  /// Of the time that words take in one reading, they need so much in the other.
  private static let share = 0.7
  /// Behind a pause, no more words than these are taken for the beginning of a reading.
  private static let fewWords = 3
  /// Words sound on so long behind the time in which they were heard, in frames.
  private static let slack = 10

  /// Where the reading before it ends, or the pause behind that, in frames, and the keys before it
  /// that may be of it, though they were taken from the other reading; nil where there is none.
  ///
  /// - Parameters:
  ///   - key: the first key of the text that is taken from the reading.
  ///   - echo: the number of the last heard word of the other one.
  ///   - heard: for each key of the text, the number of the heard word that it is.
  ///   - sounds: what was heard.
  ///   - loud: for how many of some frames there is more than silence.
  private static func start(
    at key: Int, behind echo: Int, heard: [Int?], _ sounds: [DecodedWord], loud: (Range<Int>) -> Int
  ) -> (end: Int, doubtful: Range<Int>)? {
    guard let first = heard[key], let last = heard[..<key].last(where: { $0 != nil }), let last,
      first - last > 1
    else { return nil }
    let start = sounds[first].start / 10
    let pause = (last + 1...first).last { isBehindPause($0, sounds) }
    let breath = pause.map { sounds[$0].start / 10 - slack } ?? start
    let end = min(sounds[echo].end / 10, breath)
    let room = loud(min(end + slack, start)..<start)
    return (end, keys(before: key, heard, sounds, fitting: room))
  }

  /// Whether a reading can begin with a heard word.
  private static func isBehindPause(_ sound: Int, _ sounds: [DecodedWord]) -> Bool {
    sound == 0 || sounds[sound].start - sounds[sound - 1].end >= pause
  }

  /// The keys for which there is speech before the first word that was understood, and a few before
  /// them with which the other reading begins, behind a pause.
  private static func keys(
    before seam: Int, _ heard: [Int?], _ sounds: [DecodedWord], fitting room: Int
  ) -> Range<Int> {
    // Behind a pause, the other one begins with the same word.
    guard let last = heard[seam - 1], !isBehindPause(last + 1, sounds) else { return seam..<seam }
    var key = seam
    var first = seam
    while key > 0, first - key < fewWords, let sound = heard[key - 1], last - sound == seam - key {
      key -= 1
      let time = Double(sounds[last].end - sounds[sound].start) / 10
      if time * share <= Double(room) { first = key }
      if isBehindPause(sound, sounds) { return key..<seam }
    }
    return first..<seam
  }
}

/// Which of the words that were heard are which words of a text.
///
/// Words that were heard nowhere in the text and words of the text that were not heard are left
/// over; the order is kept. Phrases that occur once in each are found first, then what lies
/// between them is compared word by word.
struct WordMatching {
  /// For each word of the text, the number of the heard word that it is.
  private(set) var heard: [Int?]

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
  init(text: [String], heard keys: [String]) {
    heard = Array(repeating: nil, count: text.count)
    match(text, text.indices, keys, keys.indices, phrase: 4)
  }

  /// How many words of the text were heard.
  var count: Int { heard.count { $0 != nil } }

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
      let length = ends.partitioningIndex(where: { pairs[$0].1 >= pair.1 })
      before[index] = length > 0 ? ends[length - 1] : nil
      if length == ends.count { ends.append(index) } else { ends[length] = index }
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

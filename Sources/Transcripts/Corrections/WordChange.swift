/// One place of a correction: words that are replaced, inserted or deleted, with what finds the place
/// again in another transcript of the same recording.
package struct WordChange: Hashable, Sendable, Codable {
  /// The index of the first word, in the words that the correction was made in.
  package var index: Int
  /// The words that were there; none for an insertion.
  package var removed: [String]
  /// The words that are there now; none for a deletion.
  package var inserted: [String]
  /// Up to three words before the place.
  package var before: [String]
  /// Up to three words behind the place.
  package var after: [String]
  /// Where the place begins, in seconds; nil if unknown.
  package var start: Double?
  /// Where it ends, in seconds; nil if unknown.
  package var end: Double?
  /// Whether inserted words go with the word before them, and end its paragraph, rather than with the
  /// next one; nil if unknown.
  package var endsParagraph: Bool?

  /// How many words around a place are noted.
  private static let context = 3

  init(
    _ place: Range<Int>, to inserted: [String], in words: [TimedWord], endsParagraph: Bool? = nil,
    origin: (Double) -> Double = { $0 }
  ) {
    self.endsParagraph = endsParagraph
    index = place.lowerBound
    removed = words[place].map(\.text)
    self.inserted = inserted
    before = words[..<place.lowerBound].suffix(Self.context).map(\.text)
    after = words[place.upperBound...].prefix(Self.context).map(\.text)
    let times = WordTimes(place, in: words)
    (start, end) = (times.start.map(origin), times.end.map(origin))
  }
}

extension WordChange {
  /// How far the times of one place may be apart, in seconds.
  private static let tolerance = 0.5

  /// Whether it puts back what another change replaced.
  package func takesBack(_ other: WordChange) -> Bool {
    guard removed == other.inserted, inserted == other.removed else { return false }
    guard let start, let earlier = other.start else { return true }
    return abs(start - earlier) < Self.tolerance
  }
}

extension [Correction] {
  /// The corrections without the changes that a later one took back, and without those that did: together
  /// they change nothing, and are no correction of another text. O(changes²).
  package var withoutWithdrawn: [Correction] {
    var result = self
    for later in indices {
      var left: [WordChange] = []
      for change in self[later].changes {
        let withdrawn = (0..<later).reversed().lazy.compactMap { earlier in
          result[earlier].changes.lastIndex { change.takesBack($0) }.map { (earlier, $0) }
        }.first
        guard let (earlier, index) = withdrawn else {
          left.append(change)
          continue
        }
        result[earlier].changes.remove(at: index)
      }
      result[later].changes = left
    }
    return result
  }
}

/// A correction of a transcript by a person: an overlay that leaves the transcript as it is.
package struct Correction: Hashable, Sendable, Codable {
  /// Who made it.
  package var author: String
  /// When, as ISO 8601.
  package var time: String
  /// In the order of the text, none overlapping another.
  package var changes: [WordChange]

  package init(author: String, time: String, changes: [WordChange]) {
    (self.author, self.time, self.changes) = (author, time, changes)
  }

  /// The changes that make an edited text of a transcript; none if all words are the same. Where only
  /// case or punctuation differs, the word is the same one and keeps its time.
  ///
  /// Complexity: O(*n* log *n*) in the number of words, and between words that occur once in both texts
  /// O(*m* × *d*) for *m* words and *d* differences.
  /// - Parameters:
  ///   - shown: the words that the edited text was made of, by their numbers in the transcript; nil for
  ///     all. What is not shown is never changed.
  ///   - starts: the edited words that begin a paragraph; nil where it has none.
  ///   - origin: the time in the recording of a time of the transcript.
  package static func changes(
    from transcript: Transcript, shown: [Int]? = nil, to edited: [String],
    starts: Set<Int>? = nil, origin: (Double) -> Double = { $0 }
  ) -> [WordChange] {
    let words = transcript.words
    let turns = transcript.inTurns.segments.enumerated().flatMap { number, turn in
      turn.words.map { _ in number }
    }
    let place = ShownWords(shown ?? Array(words.indices), in: words)
    var found: [(place: Range<Int>, words: [String], endsParagraph: Bool?)] = []
    func add(_ place: Range<Int>, _ new: [String], endsParagraph: Bool? = nil) {
      guard let last = found.last, last.place == place, !place.isEmpty else {
        return found.append((place, new, place.isEmpty ? endsParagraph : nil))
      }
      // An insertion beside a cut has taken its neighbour along, which is changed itself.
      let own = words[place].map(\.text)
      found[found.count - 1].words =
        new.starts(with: own)
        ? last.words + new.dropFirst(own.count) : last.words.dropLast(own.count) + new
    }
    var (old, new) = (0, 0)
    func close(_ oldEnd: Int, _ newEnd: Int) {
      guard old < oldEnd || new < newEnd else { return }
      // Words around the beginning of a paragraph are one change of each.
      let cut = (new..<newEnd).dropFirst().first { starts?.contains($0) == true }
      let border = (old..<oldEnd).dropFirst().first {
        turns[place.numbers[$0]] != turns[place.numbers[$0 - 1]]
      }
      if let cut, let border = old == oldEnd ? old : border {
        close(border, cut)
        (old, new) = (border, cut)
      }
      let isBehind = Self.goesWithWordBefore(new..<newEnd, in: edited, starts ?? [])
      for part in place.parts(of: old..<oldEnd, to: Array(edited[new..<newEnd])) {
        add(part.place, part.words, endsParagraph: isBehind)
      }
    }
    for (left, right) in WordDifference.pairs(place.numbers.map { words[$0].text }, edited) {
      close(left, right)
      let number = place.numbers[left]
      if words[number].text != edited[right] { add(number..<number + 1, [edited[right]]) }
      (old, new) = (left + 1, right + 1)
    }
    close(place.numbers.count, edited.count)
    return found.map {
      WordChange(
        $0.place, to: $0.words, in: words, endsParagraph: $0.endsParagraph, origin: origin)
    }
  }

  /// Whether inserted words belong to what is said before them: they begin no paragraph, and no sentence
  /// that is continued behind them.
  private static func goesWithWordBefore(
    _ place: Range<Int>, in words: [String], _ starts: Set<Int>
  ) -> Bool {
    if starts.contains(place.lowerBound) { return false }
    if starts.contains(place.upperBound) || place.isEmpty || place.lowerBound == 0 { return true }
    return !WrittenWords.endsSentence(words[place.lowerBound - 1])
      || WrittenWords.endsSentence(words[place.upperBound - 1])
  }

  /// Seconds by which a caption may begin before or behind its first word.
  private static let captionTolerance = 0.5

  /// What an edited text says otherwise than a transcript, besides its words: a correction leaves it out.
  /// As costly as ``changes(from:shown:to:origin:)``.
  /// - Returns: whether it names other speakers of the same words, and whether paragraphs of it begin at
  ///   other times.
  package static func ignored(
    in edited: Transcript, over transcript: Transcript
  ) -> (speakers: Bool, times: Bool) {
    typealias Entry = (word: TimedWord, speaker: String?, start: Double?)
    func entries(_ transcript: Transcript) -> [Entry] {
      transcript.segments.flatMap { segment in
        segment.words.enumerated().map { index, word in
          (word, word.speaker ?? segment.speaker, index == 0 ? segment.start : nil)
        }
      }
    }
    let (old, new) = (entries(transcript), entries(edited))
    let pairs = WordDifference.pairs(old.map(\.word.text), new.map(\.word.text))
    return (
      // A caption without a label says nothing of speakers.
      pairs.contains { left, right in
        new[right].speaker.map { $0 != old[left].speaker } ?? false
      },
      pairs.contains { left, right in
        guard let heard = old[left].word.start, let shown = new[right].start else { return false }
        return abs(heard - shown) > captionTolerance
      }
    )
  }

  /// The share of the shorter of both texts that the other has too, in the same order and in a row of two
  /// words or more, which texts about other things hardly have: 0…1. Of fewer than five words single ones
  /// count. As costly as ``changes(from:to:)``.
  package static func likeness(of edited: [String], to transcript: Transcript) -> Double {
    let words = transcript.words.map(\.text)
    let count = min(words.count, edited.count)
    guard count > 0 else { return 0 }
    let pairs = WordDifference.pairs(words, edited)
    if count < 5 { return Double(pairs.count) / Double(count) }
    let inRow = pairs.indices.count { index in
      func follows(_ one: Int) -> Bool {
        pairs.indices.contains(one) && pairs.indices.contains(one + 1)
          && pairs[one].0 + 1 == pairs[one + 1].0 && pairs[one].1 + 1 == pairs[one + 1].1
      }
      return follows(index - 1) || follows(index)
    }
    return Double(inRow) / Double(count)
  }
}

/// Some words of a transcript, of which others were cut out.
private struct ShownWords {
  /// Their numbers in the transcript, ascending.
  let numbers: [Int]
  private let count: Int
  private let words: [TimedWord]

  init(_ numbers: [Int], in words: [TimedWord]) {
    (self.numbers, self.words) = (numbers, words)
    count = words.count
  }

  /// The places in the transcript of some of the words and what takes them, without what is not shown.
  /// New words go into one place, unless there are as many as before.
  func parts(of range: Range<Int>, to new: [String]) -> [(place: Range<Int>, words: [String])] {
    guard !range.isEmpty else { return [insertion(at: range.lowerBound, of: new)] }
    var places: [Range<Int>] = []
    for number in numbers[range] {
      if let last = places.last, last.upperBound == number {
        places[places.count - 1] = last.lowerBound..<number + 1
      } else {
        places.append(number..<number + 1)
      }
    }
    var rest = new[...]
    let isOneToOne = range.count == new.count
    return places.map { place in
      let own = isOneToOne ? rest.prefix(place.count) : rest
      rest = rest.dropFirst(own.count)
      return (place, Array(own))
    }
  }

  /// Beside a cut, new words share the time of their neighbour, so that they are not cut out too.
  private func insertion(at index: Int, of new: [String]) -> (place: Range<Int>, words: [String]) {
    let before = index > 0 ? numbers[index - 1] : nil
    let after = index < numbers.count ? numbers[index] : nil
    let gap = (before.map { $0 + 1 } ?? 0)..<(after ?? count)
    if gap.isEmpty { return (gap, new) }
    if let before { return (before..<before + 1, [words[before].text] + new) }
    if let after { return (after..<after + 1, new + [words[after].text]) }
    return (0..<0, new)
  }
}

/// The time that a place has: that of its words, or the gap between its neighbours.
struct WordTimes {
  var start: Double?
  var end: Double?

  init(_ place: Range<Int>, in words: [TimedWord]) {
    let before = words[..<place.lowerBound].last { $0.end != nil }?.end
    let behind = words[place.upperBound...].first { $0.start != nil }?.start
    start = words[place].first?.start ?? before
    end = words[place].last?.end ?? behind
    // A place without a neighbour on one side ends where it begins.
    if start == nil { start = end }
    if end == nil { end = start }
    if let first = start, let last = end, last < first { end = start }
  }
}

/// The words that two texts have in common, in order.
enum WordDifference {
  /// What is compared of a word: letters and digits in lower case; all of a word without any.
  static func plain(_ word: String) -> String {
    let kept = word.lowercased().filter { $0.isLetter || $0.isNumber }
    return kept.isEmpty ? word : kept
  }

  /// Pairs of indices of equal words, both ascending. Words that occur once in both texts divide them,
  /// so that the rest is short.
  static func pairs(_ old: [String], _ new: [String]) -> [(Int, Int)] {
    var numbers: [String: Int] = [:]
    func number(_ word: String) -> Int {
      let plain = plain(word)
      if let known = numbers[plain] { return known }
      numbers[plain] = numbers.count
      return numbers.count - 1
    }
    let (old, new) = (old.map(number), new.map(number))
    var pairs: [(Int, Int)] = []
    var (left, right) = (0, 0)
    for anchor in anchors(old, new) + [(old.count, new.count)] {
      pairs += between(old, left..<anchor.0, new, right..<anchor.1)
      if anchor.0 < old.count { pairs.append(anchor) }
      (left, right) = (anchor.0 + 1, anchor.1 + 1)
    }
    return pairs
  }

  /// The longest ascending sequence of the words that occur once in both.
  private static func anchors(_ old: [Int], _ new: [Int]) -> [(Int, Int)] {
    func places(_ words: [Int]) -> [Int: Int] {
      var places: [Int: Int] = [:]
      for (index, word) in words.enumerated() {
        places[word] = places[word] == nil ? index : -1
      }
      return places.filter { $0.value >= 0 }
    }
    let there = places(new)
    let common = places(old).compactMap { word, index in there[word].map { (index, $0) } }
      .sorted { $0.0 < $1.0 }
    // Patience sorting: the last pair of the best sequence of each length.
    var tails: [Int] = []
    var previous = [Int?](repeating: nil, count: common.count)
    for index in common.indices {
      var (low, high) = (0, tails.count)
      while low < high {
        let middle = (low + high) / 2
        if common[tails[middle]].1 < common[index].1 { low = middle + 1 } else { high = middle }
      }
      previous[index] = low > 0 ? tails[low - 1] : nil
      if low == tails.count { tails.append(index) } else { tails[low] = index }
    }
    var result: [(Int, Int)] = []
    var next = tails.last
    while let index = next {
      result.append(common[index])
      next = previous[index]
    }
    return result.reversed()
  }

  /// The pairs of two parts: equal beginnings and ends, and between them the fewest differences.
  private static func between(
    _ old: [Int], _ left: Range<Int>, _ new: [Int], _ right: Range<Int>
  ) -> [(Int, Int)] {
    var (left, right) = (left, right)
    var (head, tail): ([(Int, Int)], [(Int, Int)]) = ([], [])
    while let one = left.first, let other = right.first, old[one] == new[other] {
      head.append((one, other))
      (left, right) = (left.dropFirst(), right.dropFirst())
    }
    while let one = left.last, let other = right.last, old[one] == new[other] {
      tail.append((one, other))
      (left, right) = (left.dropLast(), right.dropLast())
    }
    if !left.isEmpty, !right.isEmpty {
      let difference = new[right].map(\.self).difference(from: old[left].map(\.self))
      var (gone, come): (Set<Int>, Set<Int>) = ([], [])
      for change in difference {
        switch change {
        case .remove(let offset, _, _): gone.insert(left.lowerBound + offset)
        case .insert(let offset, _, _): come.insert(right.lowerBound + offset)
        }
      }
      head += zip(left.filter { !gone.contains($0) }, right.filter { !come.contains($0) })
    }
    return head + tail.reversed()
  }
}

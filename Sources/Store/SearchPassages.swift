/// Finds the passages of one transcript: places that lie close together are one, and where everything
/// that was looked for is said in one passage, such passages alone count.
struct SearchPassages {
  /// A run of words, by their numbers, and which of them were found.
  struct Passage: Hashable {
    var words: ClosedRange<Int>
    var marks: [ClosedRange<Int>]
    var demands: Set<Int>
  }

  /// Places with no more words between them are one passage.
  private static let gap = 12
  /// A passage with several places is no longer than so many words.
  private static let length = 40

  let passages: [Passage]

  /// O(n log n + n log m) in the places and words.
  init(_ places: SearchPlaces, of expression: SearchExpression, in page: SearchPage) {
    let gap = max(Self.gap, expression.distance)
    let length = max(Self.length, 2 * gap)
    var passages: [Passage] = []
    for (mark, phrase) in Self.marks(places, of: expression, in: page) {
      if var open = passages.last, mark.lowerBound - open.words.upperBound - 1 <= gap,
        mark.upperBound - open.words.lowerBound < length
          || mark.lowerBound <= open.words.upperBound
      {
        open.add(mark, phrase.demand)
        passages[passages.count - 1] = open
      } else {
        passages.append(Passage(words: mark, marks: [mark], demands: [phrase.demand]))
      }
    }
    let whole = passages.filter { $0.demands.count == expression.demandCount }
    self.passages = whole.isEmpty ? passages : whole
  }

  /// The words that were found, in their order, each by the phrase that it was found by.
  private static func marks(
    _ places: SearchPlaces, of expression: SearchExpression, in page: SearchPage
  ) -> [(ClosedRange<Int>, SearchExpression.Phrase)] {
    var marks: [(ClosedRange<Int>, SearchExpression.Phrase)] = []
    for place in places.places where expression.phrases.indices.contains(place.phrase) {
      let phrase = expression.phrases[place.phrase]
      let count = page.tokenCount(in: place.column)
      guard phrase.demand >= 0, place.token < count else { continue }
      let last = min(place.token + max(1, phrase.tokens.count), count) - 1
      let first = page.word(ofToken: place.token, in: place.column)
      guard place.column == .said || phrase.isWhole(in: page.text(first..<first + 1)) else {
        continue
      }
      marks.append((first...page.lastWord(ofToken: last, in: place.column), phrase))
    }
    return marks.sorted {
      ($0.0.lowerBound, $0.0.upperBound, $0.1.demand)
        < ($1.0.lowerBound, $1.0.upperBound, $1.1.demand)
    }
  }
}

extension SearchPassages.Passage {
  /// Takes in a place that begins no earlier than all before.
  fileprivate mutating func add(_ mark: ClosedRange<Int>, _ demand: Int) {
    words = words.lowerBound...max(words.upperBound, mark.upperBound)
    demands.insert(demand)
    if let last = marks.last, mark.lowerBound <= last.upperBound + 1 {
      marks[marks.count - 1] = last.lowerBound...max(last.upperBound, mark.upperBound)
    } else {
      marks.append(mark)
    }
  }
}

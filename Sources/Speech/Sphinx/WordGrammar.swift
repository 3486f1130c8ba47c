/// The order of words as a graph: from state to state leads a word.
struct WordGrammar {
  /// A word between two states.
  struct Arc: Hashable {
    let from: Int
    let to: Int
    let key: String
  }

  private(set) var arcs: [Arc] = []
  /// How many states there are.
  private(set) var stateCount = 1
  /// Where everything has been said.
  private(set) var lastState = 0

  /// Lets the words follow each other, each in one of its variants.
  init(of words: [SpokenWord]) {
    for word in words where word.isSpoken {
      let end = newState()
      for variant in word.variants {
        var state = lastState
        for key in variant.dropLast() {
          let next = newState()
          arcs.append(Arc(from: state, to: next, key: key))
          state = next
        }
        if let key = variant.last { arcs.append(Arc(from: state, to: end, key: key)) }
      }
      lastState = end
    }
  }

  private mutating func newState() -> Int {
    defer { stateCount += 1 }
    return stateCount
  }

  /// Which of the heard words belong to which word; nil where they are not what was expected.
  ///
  /// Ways may share their beginnings, so the first that lets everything after it fit is taken.
  static func assign(_ heard: [DecodedWord], to words: [SpokenWord]) -> [[DecodedWord]]? {
    // Whether the words from `word` on fit what was heard from `position` on, for every pair that
    // can occur, from the end.
    var fits: [Set<Int>] = Array(repeating: [], count: words.count + 1)
    fits[words.count] = [heard.count]
    let keys = heard.map(\.key)
    func matches(_ variant: [String], at position: Int) -> Bool {
      position + variant.count <= keys.count
        && keys[position..<position + variant.count].elementsEqual(variant)
    }
    for index in words.indices.reversed() {
      if words[index].variants.isEmpty {
        fits[index] = fits[index + 1]
        continue
      }
      for variant in words[index].variants {
        for end in fits[index + 1]
        where end >= variant.count && matches(variant, at: end - variant.count) {
          fits[index].insert(end - variant.count)
        }
      }
    }
    guard fits[0].contains(0) else { return nil }
    var position = 0
    return words.indices.map { index in
      let variant = words[index].variants.first {
        matches($0, at: position) && fits[index + 1].contains(position + $0.count)
      }
      let start = position
      position += variant?.count ?? 0
      return Array(heard[start..<position])
    }
  }
}

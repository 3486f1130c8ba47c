/// The order of words as a graph: from state to state leads a word.
struct WordGrammar {
  /// A word between two states.
  struct Arc: Hashable {
    let from: Int
    let to: Int
    let key: String
  }

  /// The words between the states.
  private(set) var arcs: [Arc] = []
  /// How many states there are.
  private(set) var stateCount = 1
  /// Where everything has been said.
  private(set) var lastState = 0

  /// Lets the words follow each other, each in one of its ways.
  init(of words: [SpokenWord]) {
    for word in words where word.isSpoken {
      let end = newState()
      for way in word.ways {
        var state = lastState
        for key in way.dropLast() {
          let next = newState()
          arcs.append(Arc(from: state, to: next, key: key))
          state = next
        }
        if let key = way.last { arcs.append(Arc(from: state, to: end, key: key)) }
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
  static func assign(_ heard: [HeardWord], to words: [SpokenWord]) -> [[HeardWord]]? {
    // Whether the words from `word` on fit what was heard from `position` on, for every pair that
    // can occur, from the end.
    var fits: [Set<Int>] = Array(repeating: [], count: words.count + 1)
    fits[words.count] = [heard.count]
    let keys = heard.map(\.key)
    func matches(_ way: [String], at position: Int) -> Bool {
      position + way.count <= keys.count && keys[position..<position + way.count].elementsEqual(way)
    }
    for index in words.indices.reversed() {
      if words[index].ways.isEmpty {
        fits[index] = fits[index + 1]
        continue
      }
      for way in words[index].ways {
        for end in fits[index + 1] where end >= way.count && matches(way, at: end - way.count) {
          fits[index].insert(end - way.count)
        }
      }
    }
    guard fits[0].contains(0) else { return nil }
    var position = 0
    return words.indices.map { index in
      let way = words[index].ways.first {
        matches($0, at: position) && fits[index + 1].contains(position + $0.count)
      }
      let start = position
      position += way?.count ?? 0
      return Array(heard[start..<position])
    }
  }
}

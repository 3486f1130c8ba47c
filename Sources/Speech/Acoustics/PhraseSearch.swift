import Glibc

/// The search for what is said in a piece of sound by someone who may follow a text (Viterbi with a
/// beam, one token for each state).
struct PhraseSearch {
  /// A word or a silence that may have been heard.
  private struct Record {
    /// The number of the word; -1 for silence.
    let word: Int32
    let end: Int32
    let before: Int32
  }

  /// The likeliest ways to the three states of a phone and into it, and what was heard on them.
  private struct Token {
    var first = -Float.infinity
    var second = -Float.infinity
    var third = -Float.infinity
    var entry = -Float.infinity
    var firstPast: Int32 = -1
    var secondPast: Int32 = -1
    var thirdPast: Int32 = -1
    var entryPast: Int32 = -1
    /// The frame for which the phone was last put into the list.
    var listed: Int32 = -1

    var best: Float { max(first, max(second, third)) }

    /// Forgets the ways to the states.
    mutating func drop() {
      first = -.infinity
      second = -.infinity
      third = -.infinity
    }

    /// Takes a frame with these scores of the states.
    @inline(__always)
    mutating func pass(_ matrix: PhoneTransitions, _ heard: (Float, Float, Float)) {
      third += matrix.stay[2]
      if second + matrix.leave[1] > third {
        third = second + matrix.leave[1]
        thirdPast = secondPast
      }
      second += matrix.stay[1]
      if first + matrix.leave[0] > second {
        second = first + matrix.leave[0]
        secondPast = firstPast
      }
      first += matrix.stay[0]
      if entry > first {
        first = entry
        firstPast = entryPast
      }
      entry = -.infinity
      first += heard.0
      second += heard.1
      third += heard.2
    }
  }

  /// What it costs to lose the thread, to say a word off it, and to take it up again behind a word
  /// that occurs once, as logarithms; behind one that occurs more often, it costs more.
  private static let losing: Float = 20
  private static let lostWord: Float = 35
  private static let finding: Float = 2
  private static let crowd: Float = 3
  /// What a sound costs that belongs to no word: what resembles the words of the text less than any
  /// sounds is none of them.
  private static let sound: Float = 60
  /// What silence costs.
  private static let silence: Float = 3
  /// How much less likely than the best a token may be, within a word and at its end.
  private static let beam: Float = 85
  private static let endBeam: Float = 65

  private let graph: PhraseGraph
  private let transitions: [PhoneTransitions]
  private let crowds: [Float]
  private var tokens: [Token]
  private var active: [Int32] = []
  private var next: [Int32] = []
  private var records: [Record] = []
  private var frame: Int32 = 0
  /// The best way to be lost after this frame.
  private var hub: Float = 0
  private var hubPast: Int32 = -1

  /// Makes room.
  init(_ graph: PhraseGraph, _ model: SoundModel) {
    self.graph = graph
    transitions = model.transitions
    crowds = graph.occurrences.map { Self.finding + Self.crowd * logf(Float(max(1, $0.count))) }
    tokens = Array(repeating: Token(), count: graph.nodes.count)
  }

  /// Forgets what was heard, and is ready for another piece.
  mutating func begin() {
    for node in active { tokens[Int(node)] = Token() }
    active.removeAll(keepingCapacity: true)
    next.removeAll(keepingCapacity: true)
    records.removeAll(keepingCapacity: true)
    frame = 0
    hub = 0
    hubPast = -1
    enterLost()
    swap(&active, &next)
  }

  /// Takes the next frame.
  mutating func pass(_ slot: Int, _ scores: borrowing StateScores) {
    let best = scores.bests[slot]
    var top = -Float.infinity
    for item in active {
      let node = Int(item)
      let phone = graph.nodes[node].states
      tokens[node].pass(
        transitions[Int(phone.transitions)],
        (
          scores.score(slot, phone.first) - best, scores.score(slot, phone.second) - best,
          scores.score(slot, phone.third) - best
        ))
      top = max(top, tokens[node].best)
    }
    frame += 1
    spread(top)
  }

  /// Gives up what is unlikely, and lets the rest go on.
  private mutating func spread(_ top: Float) {
    hub = -.infinity
    next.removeAll(keepingCapacity: true)
    for item in active {
      let node = Int(item)
      guard tokens[node].best >= top - Self.beam else {
        tokens[node].drop()
        continue
      }
      list(item)
      let exit =
        tokens[node].third + transitions[Int(graph.nodes[node].states.transitions)].leave[2]
      if exit >= top - Self.endBeam { leave(item, exit, tokens[node].thirdPast) }
    }
    if hub >= top - Self.beam { enterLost() }
    swap(&active, &next)
  }

  /// Goes on behind a phone.
  private mutating func leave(_ node: Int32, _ exit: Float, _ past: Int32) {
    switch graph.nodes[Int(node)].role {
    case .inside: enter(node + 1, exit, past)
    case .wordEnd(let place):
      let record = note(graph.words[Int(place)], past)
      lose(exit - Self.losing, record)
      let silence = graph.silences[Int(place)]
      guard silence >= 0 else { return }
      enter(silence, exit - Self.silence, record)
      enterWord(place + 1, exit, record)
    case .silence(let place):
      let record = note(-1, past)
      enterWord(place, exit, record)
    case .lost: lose(exit, note(-1, past))
    case .branch(let index):
      let branch = graph.branches[Int(index)]
      for node in branch.next { enter(graph.branchNodes[Int(node)], exit, past) }
      for number in branch.words {
        let word = Int(graph.branchWords[Int(number)])
        let record = note(Int32(word), past)
        lose(exit, record)
        let found = exit - crowds[word]
        for index in graph.occurrences[word] {
          let place = graph.places[Int(index)]
          enterWord(place + 1, found, record)
          enter(graph.silences[Int(place)], found - Self.silence, record)
        }
      }
    }
  }

  @inline(__always)
  private mutating func enterWord(_ place: Int32, _ score: Float, _ past: Int32) {
    for index in graph.beginnings[Int(place)] {
      enter(graph.firstNodes[Int(index)], score, past)
    }
  }

  private mutating func note(_ word: Int32, _ past: Int32) -> Int32 {
    records.append(Record(word: word, end: frame, before: past))
    return Int32(records.count - 1)
  }

  private mutating func lose(_ score: Float, _ past: Int32) {
    guard score > hub else { return }
    hub = score
    hubPast = past
  }

  private mutating func enterLost() {
    enter(graph.lostSilence, hub - Self.silence, hubPast)
    for node in graph.sounds { enter(node, hub - Self.sound, hubPast) }
    for node in graph.roots { enter(node, hub - Self.lostWord, hubPast) }
  }

  @inline(__always)
  private mutating func enter(_ node: Int32, _ score: Float, _ past: Int32) {
    let index = Int(node)
    guard score > tokens[index].entry else { return }
    tokens[index].entry = score
    tokens[index].entryPast = past
    list(node)
  }

  @inline(__always)
  private mutating func list(_ node: Int32) {
    guard tokens[Int(node)].listed != frame else { return }
    tokens[Int(node)].listed = frame
    next.append(node)
  }

  /// What was heard, in order.
  func words() -> [HeardWord] {
    var best = -Float.infinity
    var past: Int32 = -1
    for node in active {
      // An unfinished word counts as little as what was heard before it.
      let token = tokens[Int(node)]
      for (score, heard) in [
        (token.first, token.firstPast), (token.second, token.secondPast),
        (token.third, token.thirdPast), (token.entry, token.entryPast),
      ] where score > best {
        best = score
        past = heard
      }
    }
    var words: [HeardWord] = []
    while past >= 0 {
      let record = records[Int(past)]
      let first = record.before >= 0 ? records[Int(record.before)].end : 0
      if record.word >= 0 {
        words.append(
          HeardWord(
            key: graph.keys[Int(record.word)], first: Int(first), end: Int(record.end), score: 0))
      }
      past = record.before
    }
    return words.reversed()
  }
}

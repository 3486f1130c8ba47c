/// The search for what is said in a piece of sound by someone who may follow a text (Viterbi with a
/// beam, one token for each state).
struct PhraseSearch {
  /// How much less likely than the best a token may be, within a word and at its end.
  private static let beam: Float = 85
  private static let endBeam: Float = 65

  private let graph: PhraseGraph
  private let transitions: [PhoneTransitions]
  private let costs: PhraseCosts
  /// One for each node of the graph.
  private(set) var tokens: [PhraseToken]
  private var active: [Int32] = []
  private var next: [Int32] = []
  private var trail: PhraseTrail
  private var frame: Int32 = 0
  /// The best way to be lost after this frame.
  private var hub: Float = 0
  private var hubPast: Int32 = -1

  /// Makes room.
  init(_ graph: PhraseGraph, _ model: SoundModel) {
    self.graph = graph
    transitions = model.transitions
    costs = PhraseCosts(of: graph)
    trail = PhraseTrail(graph, costs)
    tokens = Array(repeating: PhraseToken(), count: graph.nodes.count)
  }

  /// Forgets what was heard, and is ready for another piece.
  mutating func begin() {
    // Those that were given up long before count, too: each knows when it was last in the list.
    for node in tokens.indices { tokens[node] = PhraseToken() }
    active.removeAll(keepingCapacity: true)
    next.removeAll(keepingCapacity: true)
    trail.begin()
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
      let record = note(graph.words[Int(place)], past, exit, isLost: false)
      lose(exit - PhraseCosts.losing, record)
      let silence = graph.silences[Int(place)]
      guard silence >= 0 else { return }
      enter(silence, exit - PhraseCosts.silence, record)
      enterWord(place + 1, exit, record)
    case .silence(let place):
      let record = note(-1, past, exit, isLost: false)
      enterWord(place, exit, record)
    case .lost: lose(exit, note(-1, past, exit, isLost: true))
    case .branch(let index):
      let branch = graph.branches[Int(index)]
      for node in branch.next { enter(graph.branchNodes[Int(node)], exit, past) }
      for number in branch.words {
        let word = Int(graph.branchWords[Int(number)])
        let record = note(Int32(word), past, exit, isLost: true)
        lose(exit, record)
        let found = exit - costs.finding(word)
        for index in graph.occurrences[word] {
          let place = graph.places[Int(index)]
          enterWord(place + 1, found, record)
          enter(graph.silences[Int(place)], found - PhraseCosts.silence, record)
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

  private mutating func note(
    _ word: Int32, _ past: Int32, _ score: Float, isLost: Bool
  ) -> Int32 {
    trail.note(word, isLost: isLost, until: frame, after: past, score)
  }

  private mutating func lose(_ score: Float, _ past: Int32) {
    guard score > hub else { return }
    hub = score
    hubPast = past
  }

  private mutating func enterLost() {
    enter(graph.lostSilence, hub - PhraseCosts.silence, hubPast)
    for node in graph.sounds { enter(node, hub - PhraseCosts.sound, hubPast) }
    for node in graph.roots { enter(node, hub - PhraseCosts.lostWord, hubPast) }
  }

  @inline(__always)
  private mutating func enter(_ node: Int32, _ score: Float, _ past: Int32) {
    let index = Int(node)
    if tokens[index].enter(score, past) { list(node) }
  }

  @inline(__always)
  private mutating func list(_ node: Int32) {
    guard tokens[Int(node)].listed != frame else { return }
    tokens[Int(node)].listed = frame
    next.append(node)
  }

  /// What was heard, in order: rows of words between which the thread was not lost. An unfinished
  /// word counts as little as what was heard before it.
  ///
  /// - Parameter loop: the sounds of the same frames.
  func rows(against loop: SoundLoop) -> [HeardRow] {
    var best = (score: -Float.infinity, past: Int32(-1))
    for node in active {
      let end = tokens[Int(node)].end
      if end.score > best.score { best = end }
    }
    return trail.rows(to: best.past, against: loop)
  }
}

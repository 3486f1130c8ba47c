/// The phones of words that follow each other, with silence and noises that may stand between any
/// two words, as a graph without cycles.
///
/// Each phone is there once for each pair of neighbours that it can have, across the borders of
/// words too: the last phone of a word sounds otherwise before another word than before silence.
struct PhoneGraph {
  /// A phone between its neighbours.
  struct Node {
    let states: PhoneStates
    /// The number of the word's arc in the grammar; nil for silence and noises.
    let arc: Int?
    /// Whether a word, or a silence, begins with it.
    let isFirst: Bool
    /// The cost of beginning it, as the logarithm of a probability.
    let cost: Float
    /// What may come before.
    var before: [Int32] = []
  }

  /// The phones, each after those that may come before it, except for silences between which any
  /// order is allowed.
  private(set) var nodes: [Node] = []
  /// Those that may come first.
  private(set) var starts: [Int] = []
  /// Those that may come last.
  private(set) var ends: [Int] = []

  /// What silence and noise cost between two words, as logarithms of probabilities.
  ///
  /// libpocketsphinx lets silence cost 5 and noise 18: in noise, silence then stands for
  /// the hisses and stops that words begin with. With this, words in pink noise at 5 dB are 19
  /// instead of 29 ms off, on the telephone 13 instead of 17, and in clean speech 10 instead of 12.
  private static let silenceCost: Float = -25
  private static let noiseCost: Float = -40

  private let model: SoundModel
  /// Where words end in a phone before another one, by state of the grammar.
  private var leaving: [[Border: [Int32]]]
  /// Where words begin with a phone after another one.
  private var entering: [[Border: [Int32]]]
  private var silences: [[Int32]]

  private struct Border: Hashable {
    let last: Int
    let first: Int
  }

  /// Lays out the phones of a grammar; nil where a word cannot be pronounced.
  init?(of grammar: WordGrammar, _ lexicon: Lexicon, _ model: SoundModel) {
    self.model = model
    leaving = Array(repeating: [:], count: grammar.stateCount)
    entering = Array(repeating: [:], count: grammar.stateCount)
    silences = Array(repeating: [], count: grammar.stateCount)
    var spoken: [[[Int]]] = []
    var lasts = [Set<Int>](repeating: [], count: grammar.stateCount)
    var firsts = lasts
    for arc in grammar.arcs {
      let variants = (lexicon.pronunciations[arc.key] ?? [])
        .map { $0.compactMap(model.phones.number) }.filter { !$0.isEmpty }
      guard !variants.isEmpty else { return nil }
      for variant in variants {
        firsts[arc.from].insert(variant[0])
        lasts[arc.to].insert(variant[variant.count - 1])
      }
      spoken.append(variants)
    }
    let silence = model.phones.silence
    addSilences(at: 0)
    for (number, arc) in grammar.arcs.enumerated() {
      let lefts = lasts[arc.from].sorted() + [silence]
      let rights = firsts[arc.to].sorted() + [silence]
      for variant in spoken[number] {
        add(variant, of: number, from: arc.from, lefts, to: arc.to, rights)
      }
      let isLastInto = !grammar.arcs[(number + 1)...].contains { $0.to == arc.to }
      if isLastInto { addSilences(at: arc.to) }
    }
    connect(start: 0, end: grammar.lastState)
  }

  /// Lays out a word between its possible neighbours.
  private mutating func add(
    _ phones: [Int], of arc: Int, from: Int, _ lefts: [Int], to: Int, _ rights: [Int]
  ) {
    var before: [Int32] = []
    for (index, phone) in phones.enumerated() {
      let place = PhoneInventory.Place(of: index, among: phones.count)
      let (isFirst, isLast) = (index == 0, index == phones.count - 1)
      var added: [Int32] = []
      for left in isFirst ? lefts : [phones[index - 1]] {
        for right in isLast ? rights : [phones[index + 1]] {
          let node = add(
            model.phones.model(of: phone, after: left, before: right, place), arc, first: isFirst,
            before: before)
          if isFirst { entering[from][Border(last: left, first: phone), default: []].append(node) }
          if isLast { leaving[to][Border(last: phone, first: right), default: []].append(node) }
          added.append(node)
        }
      }
      before = added
    }
  }

  private mutating func add(
    _ phone: Int, _ arc: Int?, first: Bool, cost: Float = 0, before: [Int32] = []
  ) -> Int32 {
    nodes.append(
      Node(
        states: model.states(of: phone), arc: arc, isFirst: first, cost: cost, before: before))
    return Int32(nodes.count - 1)
  }

  private mutating func addSilences(at state: Int) {
    for filler in model.phones.fillers {
      let cost = filler == model.phones.silence ? Self.silenceCost : Self.noiseCost
      silences[state].append(add(filler, nil, first: true, cost: cost))
    }
  }

  /// Leads from word to word, at every state of the grammar.
  private mutating func connect(start: Int, end: Int) {
    let silence = model.phones.silence
    for state in entering.indices {
      let quiet = silences[state]
      let ends = leaving[state].filter { $0.key.first == silence }.sorted {
        $0.key.last < $1.key.last
      }
      .flatMap(\.value)
      for node in quiet { nodes[Int(node)].before = ends + quiet.filter { $0 != node } }
      for (border, words) in entering[state] {
        let before = border.last == silence ? quiet : leaving[state][border] ?? []
        for word in words { nodes[Int(word)].before = before }
      }
      if state == start {
        let words = entering[state].filter { $0.key.last == silence }.flatMap(\.value)
        starts = (quiet + words).map(Int.init).sorted()
      }
      if state == end { self.ends = (ends + quiet).map(Int.init).sorted() }
    }
  }
}

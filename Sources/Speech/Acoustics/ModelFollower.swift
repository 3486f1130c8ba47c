import Platform

/// Hears the words of a text wherever they are, by a model that Spool scores itself.
final class ModelFollower: Listener {
  private let model: SoundModel
  private let analysis: CepstralAnalysis
  private var scores: StateScores
  private var search: PhraseSearch
  /// What the words are held against.
  private var loop: SoundLoop

  /// Only every other frame is scored: it loses hardly any word and saves a third.
  private static let stride = 2

  /// Listens for sentences whose words a lexicon knows.
  init(_ model: SoundModel, of sentences: [[String]], _ lexicon: Lexicon) throws(SpoolError) {
    self.model = model
    analysis = try CepstralAnalysis(parameters: model.parameters)
    scores = StateScores(of: model)
    search = PhraseSearch(PhraseGraph(of: sentences, lexicon, model), model)
    loop = SoundLoop(model)
  }

  func hear(_ sound: Span<Int16>) -> [DecodedWord] {
    guard sound.count >= SphinxDecoder.fewestSamples else { return [] }
    let features = analysis.features(of: SilenceFloor.under(sound).span)
    search.begin()
    loop.begin()
    var frame = 0
    while frame < features.frameCount {
      let end = min(features.frameCount, frame + StateScores.capacity * Self.stride)
      let frames = Array(Swift.stride(from: frame, to: end, by: Self.stride))
      scores.score(features, frames)
      for index in frame..<end {
        let slot = (index - frame) / Self.stride
        search.pass(slot, scores)
        loop.pass(slot, scores)
      }
      frame = end
    }
    return search.words(against: loop)
  }
}

/// The search for what is said in a piece of sound by someone who may follow a text (Viterbi with a
/// beam, one token for each state).
struct PhraseSearch {
  /// How much less likely than the best a token may be, within a word and at its end.
  private static let beam: Float = 85
  private static let endBeam: Float = 65

  private let graph: PhraseGraph
  private let transitions: [PhoneTransitions]
  /// One for each node of the graph.
  private(set) var tokens: [PhraseToken]
  private var active: [Int32] = []
  private var next: [Int32] = []
  /// What was heard on all paths, each with what was heard before it.
  private var records: [Record] = []
  private var frame: Int32 = 0
  /// The best path outside of the phrases after this frame.
  private var hub: Float = 0
  private var hubPast: Int32 = -1

  /// A word or a silence that may have been heard.
  private struct Record {
    /// The number of the word; -1 for silence.
    let word: Int32
    /// Whether the thread was lost before it ended.
    let isLost: Bool
    let end: Int32
    /// The number of what was heard before; -1 for nothing.
    let before: Int32
    /// The logarithm of the likelihood of the path that ends with it.
    let score: Float
  }

  init(_ graph: PhraseGraph, _ model: SoundModel) {
    self.graph = graph
    transitions = model.transitions
    tokens = Array(repeating: PhraseToken(), count: graph.nodes.count)
  }

  /// Forgets what was heard, and is ready for another piece.
  mutating func begin() {
    // Those that were given up long before count, too: each knows when it was last in the list.
    for node in tokens.indices { tokens[node] = PhraseToken() }
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
        transitions[Int(phone.transitions)], scores.scores(slot, phone) - best)
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
      let record = record(graph.words[Int(place)], past, exit, isLost: false)
      lose(exit - PhraseGraph.losing, record)
      let silence = graph.silences[Int(place)]
      guard silence >= 0 else { return }
      enter(silence, exit - PhraseGraph.silence, record)
      enterWord(place + 1, exit, record)
    case .silence(let place):
      let record = record(-1, past, exit, isLost: false)
      enterWord(place, exit, record)
    case .lost: lose(exit, record(-1, past, exit, isLost: true))
    case .branch(let index):
      for node in graph.branchNodes[index] { enter(node, exit, past) }
      for word in graph.branchWords[index] {
        let record = record(word, past, exit, isLost: true)
        lose(exit, record)
        let found = exit - graph.findings[Int(word)]
        for place in graph.occurrences[word] {
          enterWord(place + 1, found, record)
          enter(graph.silences[Int(place)], found - PhraseGraph.silence, record)
        }
      }
    }
  }

  @inline(__always)
  private mutating func enterWord(_ place: Int32, _ score: Float, _ past: Int32) {
    for node in graph.beginnings[place] { enter(node, score, past) }
  }

  /// Notes that a word, or -1 for silence, may have been heard until this frame.
  ///
  /// - Returns: its number, for what is heard after it.
  private mutating func record(
    _ word: Int32, _ past: Int32, _ score: Float, isLost: Bool
  ) -> Int32 {
    records.append(Record(word: word, isLost: isLost, end: frame, before: past, score: score))
    return Int32(records.count - 1)
  }

  private mutating func lose(_ score: Float, _ past: Int32) {
    guard score > hub else { return }
    hub = score
    hubPast = past
  }

  private mutating func enterLost() {
    enter(graph.lostSilence, hub - PhraseGraph.silence, hubPast)
    for node in graph.sounds { enter(node, hub - PhraseGraph.sound, hubPast) }
    for node in graph.roots { enter(node, hub - PhraseGraph.lostWord, hubPast) }
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

  /// What was heard, in order, with the evidence for each anchor run: the words between which the
  /// decoder did not lose its place. An unfinished word counts as little as what was heard before it.
  ///
  /// - Parameter loop: the sounds of the same frames.
  func words(against loop: SoundLoop) -> [DecodedWord] {
    var best = (score: -Float.infinity, past: Int32(-1))
    for node in active {
      let end = tokens[Int(node)].end
      if end.score > best.score { best = end }
    }
    var runs: [[DecodedWord]] = []
    var run: [DecodedWord] = []
    var past = best.past
    while past >= 0 {
      let record = records[Int(past)]
      if record.word >= 0 {
        run.append(word(of: record, against: loop))
        if record.isLost {
          runs.append(DecodedWord.judged(run.reversed()))
          run = []
        }
      }
      past = record.before
    }
    return runs.reversed().flatMap(\.self)
  }

  /// A word; its score is held against that of any sounds.
  private func word(of record: Record, against loop: SoundLoop) -> DecodedWord {
    let before = record.before >= 0 ? records[Int(record.before)] : nil
    let frames = Int(before?.end ?? 0)..<Int(record.end)
    let score = record.score - (before?.score ?? 0) + cost(of: record, after: before)
    return DecodedWord(
      key: graph.keys[Int(record.word)], frames: frames,
      score: Double(score - loop.score(of: frames)) / Double(max(1, frames.count)))
  }

  /// What it cost to begin a word, beside its sound.
  private func cost(of record: Record, after before: Record?) -> Float {
    guard let before, before.word >= 0 else { return record.isLost ? PhraseGraph.lostWord : 0 }
    if record.isLost { return PhraseGraph.lostWord + (before.isLost ? 0 : PhraseGraph.losing) }
    return before.isLost ? graph.findings[Int(before.word)] : 0
  }
}

/// The likeliest paths to the three states of a phone and into it, and what was heard on them.
struct PhraseToken: Equatable {
  private var first = -Float.infinity
  private var second = -Float.infinity
  private(set) var third = -Float.infinity
  private var entry = -Float.infinity
  private var firstPast: Int32 = -1
  private var secondPast: Int32 = -1
  /// The number of what was heard last on the path to the last state; -1 for nothing.
  private(set) var thirdPast: Int32 = -1
  private var entryPast: Int32 = -1
  /// The frame for which the phone was last put into the list.
  var listed: Int32 = -1

  /// The logarithm of the likelihood of the likeliest path to a state.
  var best: Float { max(first, max(second, third)) }

  /// The likeliest path, into the phone too, and what was heard on it.
  var end: (score: Float, past: Int32) {
    var end = (score: first, past: firstPast)
    if second > end.score { end = (second, secondPast) }
    if third > end.score { end = (third, thirdPast) }
    if entry > end.score { end = (entry, entryPast) }
    return end
  }

  /// Forgets the paths to the states.
  mutating func drop() {
    first = -.infinity
    second = -.infinity
    third = -.infinity
  }

  /// Takes a path into the phone; false where a likelier one is known.
  @inline(__always)
  mutating func enter(_ score: Float, _ past: Int32) -> Bool {
    guard score > entry else { return false }
    entry = score
    entryPast = past
    return true
  }

  /// Takes a frame with these scores of the states.
  @inline(__always)
  mutating func pass(_ matrix: PhoneTransitions, _ heard: SIMD4<Float>) {
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
    first += heard[0]
    second += heard[1]
    third += heard[2]
  }
}

/// The likeliest path through a graph of phones that explains all of a piece of sound (Viterbi).
///
/// Nothing is given up before the end as long as it is within a wide beam of the best, so that a
/// word that is spoken carelessly does not make all that follows impossible.
struct ForcedPath {
  /// A phone on the path.
  struct Step {
    let node: Int
    let first: Int
    let end: Int
    /// The logarithm of its likelihood, against the best that could be heard in its frames.
    let score: Float
    /// The same against the likeliest sounds of its frames, per frame (10 ms).
    var goodness: Float = 0
  }

  /// The phones, in order.
  private(set) var steps: [Step]
  /// By frame, the place of the state that it goes through.
  let states: [Int32]
  /// The logarithm of the likelihood of the whole.
  let score: Float

  /// No more than so many phones are looked at over all frames: about 100 MB.
  private static let mostCells = 16_000_000
  /// How much less likely than the best a path may be before it is given up.
  private static let beam: Float = 800

  /// Finds it; nil where there is none.
  ///
  /// Complexity: O(frames × phones) at most; within the beam far less.
  init?(
    through graph: PhoneGraph, _ features: SpeechFeatures, _ model: SoundModel,
    _ scores: inout StateScores, against loop: inout SoundLoop
  ) {
    guard features.frameCount > 0 else { return nil }
    var search = ForcedSearch(graph, model)
    loop.begin()
    for first in stride(from: 0, to: features.frameCount, by: StateScores.capacity) {
      let frames = Array(first..<min(features.frameCount, first + StateScores.capacity))
      scores.score(features, frames)
      for slot in frames.indices {
        search.pass(slot, scores, beam: Self.beam)
        loop.pass(slot, scores)
      }
      guard search.cellCount <= Self.mostCells else { return nil }
    }
    guard let end = search.bestEnd() else { return nil }
    score = end.score
    (steps, states) = search.way(to: end.node)
    for (index, step) in steps.enumerated() {
      let frames = step.first..<step.end
      steps[index].goodness = (step.score - loop.score(of: frames)) / Float(max(1, frames.count))
    }
  }

  /// The likelihoods of the whole through each of several graphs; nil where there is no path. They
  /// are held against the best of their own phones, and comparable with each other only.
  ///
  /// Complexity: O(frames × phones of the graphs).
  static func scores(
    through graphs: [PhoneGraph?], _ features: SpeechFeatures, _ model: SoundModel,
    _ scores: inout StateScores
  ) -> [Float?] {
    var searches = graphs.map { $0.map { ForcedSearch($0, model) } }
    let phones = Set(
      graphs.compactMap { $0?.nodes }.joined().map {
        model.weights.phone(of: Int($0.states.first))
      }
    ).sorted()
    for first in stride(from: 0, to: features.frameCount, by: StateScores.capacity) {
      let frames = Array(first..<min(features.frameCount, first + StateScores.capacity))
      scores.score(features, frames, phones: phones)
      for number in searches.indices {
        for slot in frames.indices { searches[number]?.pass(slot, scores, beam: beam) }
        if searches[number]?.cellCount ?? 0 > mostCells { searches[number] = nil }
      }
    }
    return searches.map { $0?.bestEnd()?.score }
  }

  /// By frame, the phones near the path: those that it passes so many frames before or after it, in
  /// whole words, with the silences beside them.
  ///
  /// Complexity: O(*n* + *f*) in the numbers of phones and frames.
  func band(in graph: PhoneGraph, frameCount: Int, reach: Int) -> [Range<Int>] {
    let groups = Self.groups(of: graph)
    var passed = [Int](repeating: 0, count: frameCount)
    for step in steps {
      for frame in step.first..<min(step.end, frameCount) { passed[frame] = step.node }
    }
    return (0..<frameCount).map { frame in
      let first = groups[passed[max(0, frame - reach)]]
      let last = groups[passed[min(frameCount - 1, frame + reach)]]
      return first.lowerBound..<max(last.upperBound, first.upperBound)
    }
  }

  /// For each phone those of its word, and of the silences before and after it; for a silence, the
  /// words before and after it as well.
  private static func groups(of graph: PhoneGraph) -> [Range<Int>] {
    var words: [Range<Int>] = []
    for (number, node) in graph.nodes.enumerated() {
      words.add(number..<number + 1) { graph.nodes[$0.lowerBound].arc == node.arc }
    }
    func isSilent(_ word: Int) -> Bool { graph.nodes[words[word].lowerBound].arc == nil }
    var groups: [Range<Int>] = []
    groups.reserveCapacity(graph.nodes.count)
    for index in words.indices {
      var (first, last) = (index, index)
      if index > 0, isSilent(index) || isSilent(index - 1) { first -= 1 }
      if index + 1 < words.count, isSilent(index) || isSilent(index + 1) { last += 1 }
      let whole = words[first].lowerBound..<words[last].upperBound
      groups += Array(repeating: whole, count: words[index].count)
    }
    return groups
  }
}

/// What is known of every phone after some frames.
private struct ForcedSearch {
  /// A phone, and where those that may come before it lie in `before`.
  private struct Cell {
    let states: PhoneStates
    let cost: Float
    let first: Int
    let end: Int
  }

  private let cells: [Cell]
  private let before: [Int32]
  private let starts: [Int]
  private let ends: [Int]
  private let transitions: [PhoneTransitions]
  /// The likelihoods of the paths that end in each state.
  private var states: [SIMD4<Float>]
  /// The likelihoods of having left each phone after the last frame.
  private var exits: [Float]
  /// The window of phones that are looked at in each frame, and for each of them: from where its
  /// first state was reached (0: itself, else the place in `before` plus one), and in the next bits
  /// whether the others were reached from the state before.
  private var windows: [(low: Int, start: Int)] = []
  private var trail: [UInt16] = []
  /// The likelihood of having left each of them.
  private var exitTrail: [Float] = []
  private var low = 0
  private var high = 0
  /// By phone, the last one that it can lead to.
  private var reach: [Int]

  init(_ graph: PhoneGraph, _ model: SoundModel) {
    var cells: [Cell] = []
    var before: [Int32] = []
    for node in graph.nodes {
      let first = before.count
      before += node.before
      cells.append(Cell(states: node.states, cost: node.cost, first: first, end: before.count))
    }
    self.cells = cells
    self.before = before
    starts = graph.starts
    ends = graph.ends
    transitions = model.transitions
    states = Array(repeating: SIMD4(repeating: -.infinity), count: graph.nodes.count)
    exits = Array(repeating: -.infinity, count: graph.nodes.count)
    reach = Array(graph.nodes.indices)
    for (node, phone) in graph.nodes.enumerated() {
      for before in phone.before { reach[Int(before)] = max(reach[Int(before)], node) }
    }
  }

  /// How many phones were looked at so far, over all frames.
  var cellCount: Int { trail.count }

  /// Takes the next frame.
  mutating func pass(_ slot: Int, _ scores: borrowing StateScores, beam: Float) {
    let isFirst = windows.isEmpty
    if isFirst {
      low = 0
      high = (starts.last ?? -1) + 1
    }
    let best = scores.bests[slot]
    windows.append((low, trail.count))
    var top = -Float.infinity
    for node in low..<high {
      let phone = cells[node]
      let matrix = transitions[Int(phone.states.transitions)]
      let old = states[node]
      let stayed = old + matrix.stay
      let moved = old + matrix.leave
      var entry = -Float.infinity
      var from: UInt16 = 0
      if isFirst {
        if starts.contains(node) { entry = phone.cost }
        from = 1
      } else {
        for index in phone.first..<phone.end {
          let exit = exits[Int(before[index])]
          guard exit > entry else { continue }
          entry = exit
          from = UInt16(truncatingIfNeeded: index - phone.first + 1)
        }
        entry += phone.cost
      }
      var new = SIMD4<Float>(repeating: -.infinity)
      var mark: UInt16 = 0
      if entry > stayed[0] {
        new[0] = entry
        mark = from
      } else {
        new[0] = stayed[0]
      }
      new[1] = max(stayed[1], moved[0])
      if moved[0] > stayed[1] { mark |= 1 << 14 }
      new[2] = max(stayed[2], moved[1])
      if moved[1] > stayed[2] { mark |= 1 << 15 }
      new += scores.scores(slot, phone.states) - best
      states[node] = new
      top = max(top, max(new[0], max(new[1], new[2])))
      trail.append(mark)
    }
    narrow(to: top - beam)
  }

  /// Lets the window of the next frame hold what is likely enough and what that leads to.
  private mutating func narrow(to least: Float) {
    var first = high
    var last = low - 1
    var furthest = low
    for node in low..<high {
      let state = states[node]
      if max(state[0], max(state[1], state[2])) >= least {
        if first > node { first = node }
        last = node
        furthest = max(furthest, reach[node])
        exits[node] =
          state[2] + transitions[Int(cells[node].states.transitions)].leave[2]
      } else {
        states[node] = SIMD4(repeating: -.infinity)
        exits[node] = -.infinity
      }
      exitTrail.append(exits[node])
    }
    guard first <= last else { return }
    low = first
    high = max(last, furthest) + 1
  }

  /// The end of the likeliest path.
  func bestEnd() -> (node: Int, score: Float)? {
    var best: (node: Int, score: Float)?
    for node in ends where exits[node] > best?.score ?? -.infinity {
      best = (node, exits[node])
    }
    return best
  }

  /// The path that leads to a phone: its phones, and the place of its state in each frame.
  func way(to end: Int) -> (steps: [ForcedPath.Step], states: [Int32]) {
    var steps: [ForcedPath.Step] = []
    var states: [Int32] = []
    var node = end
    var state = 2
    var last = windows.count
    var after = exits[end]
    for frame in windows.indices.reversed() {
      let mark = trail[windows[frame].start + node - windows[frame].low]
      let places = cells[node].states
      states.append(state == 0 ? places.first : state == 1 ? places.second : places.third)
      if state == 2 {
        if mark & 1 << 15 != 0 { state = 1 }
      } else if state == 1 {
        if mark & 1 << 14 != 0 { state = 0 }
      } else if mark & 0x3FFF > 0 {
        guard frame > 0 else {
          steps.append(ForcedPath.Step(node: node, first: 0, end: last, score: after))
          break
        }
        let previous = Int(before[cells[node].first + Int(mark & 0x3FFF) - 1])
        let earlier = windows[frame - 1]
        let score = exitTrail[earlier.start + previous - earlier.low]
        steps.append(ForcedPath.Step(node: node, first: frame, end: last, score: after - score))
        after = score
        last = frame
        node = previous
        state = 2
      }
    }
    return (steps.reversed(), states.reversed())
  }
}

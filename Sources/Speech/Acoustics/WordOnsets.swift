import Glibc

/// When words begin, by all paths through a graph that pass near the likeliest one and by how
/// likely each of them is (the forward-backward algorithm; Rabiner 1989, with its scaling).
///
/// The likeliest path alone is a poor judge of times: frames are taken for independent, which they
/// are not, so that a little noise decides between paths that are as good as each other. Here the
/// likelihoods are raised to a power below one, so that paths which are nearly as likely count, and
/// a word begins where about half of them have begun it.
struct WordOnsets {
  /// Which share of the paths has begun a word when it begins: with a half words of people and of
  /// voices alike would be 2 ms late.
  private static let share: Float = 0.45
  /// No more than so many phones are looked at over all frames: about 32 MB.
  private static let mostCells = 1_000_000

  /// By word of the grammar, how likely it begins in each frame.
  private let begins: [Int: [(frame: Int, likelihood: Float)]]

  /// Follows all paths within a band, the phones by frame; nil where there is none.
  ///
  /// Complexity: O(phones in the band), over all frames.
  init?(
    through graph: PhoneGraph, _ band: [Range<Int>], _ features: SpeechFeatures, _ model: SoundModel
  ) {
    let frameCount = band.count
    guard frameCount > 0, features.frameCount == frameCount,
      band.reduce(0, { $0 + $1.count }) <= Self.mostCells
    else { return nil }
    var lattice = PhoneLattice(graph, band, model)
    lattice.goForward(features, model)
    guard let end = lattice.sumOfEnds() else { return nil }
    begins = lattice.goBackward(from: end)
  }

  /// When a word of the grammar begins, in milliseconds; nil where that is not known.
  func start(of arc: Int) -> Int? {
    guard let frames = begins[arc] else { return nil }
    let whole = frames.reduce(0) { $0 + $1.likelihood }
    // Where all paths through a frame are hardly possible, their scale is beyond all numbers.
    guard whole > 0.01, whole.isFinite else { return nil }
    var left = Self.share * whole
    for (frame, likelihood) in frames {
      guard left > likelihood else {
        return max(0, Int((10 * (Float(frame) - 0.5 + left / likelihood)).rounded()))
      }
      left -= likelihood
    }
    return frames.last.map { 10 * $0.frame }
  }
}

/// The phones of a band, frame by frame, and how likely all paths that lead through each of them
/// are (the forward-backward algorithm; Rabiner 1989, with its scaling).
private struct PhoneLattice {
  /// The power that likelihoods are raised to, found on voices other than those of the benchmark.
  private static let flatness: Float = 0.08
  /// What silence and noise cost here beside what they cost on the likeliest path, as logarithms:
  /// paths through them are many, and in noise words would begin 2 ms later.
  private static let silenceCost: Float = -5

  /// A phone in a frame.
  private struct Cell {
    /// The likelihoods of the paths that end in each state; last, of those that enter the first
    /// one.
    var paths: SIMD4<Float>
    /// How well the sound fits each state.
    let fit: SIMD4<Float>
  }

  /// A phone, and where those that may come before it lie in `before`.
  private struct Phone {
    let states: PhoneStates
    let stay: SIMD4<Float>
    let leave: SIMD4<Float>
    let cost: Float
    let before: Range<Int>
    /// The word that begins with it, or else -1.
    let word: Int
  }

  private let phones: [Phone]
  private let before: [Int32]
  private let starts: [Int]
  private let ends: [Int]
  private let windows: [Range<Int>]
  /// Where each frame's cells begin.
  private var offsets: [Int] = []
  private var cells: [Cell] = []
  /// What the likelihoods of each frame were multiplied by, so that they add up to one.
  private var scales: [Float] = []

  /// Lays the phones out, and knows of no path yet.
  init(_ graph: PhoneGraph, _ band: [Range<Int>], _ model: SoundModel) {
    windows = band
    starts = graph.starts
    ends = graph.ends
    func flat(_ value: Float) -> Float { expf(Self.flatness * value) }
    func flat(_ four: SIMD4<Float>) -> SIMD4<Float> {
      SIMD4(flat(four[0]), flat(four[1]), flat(four[2]), 0)
    }
    let transitions = model.transitions.map { (stay: flat($0.stay), leave: flat($0.leave)) }
    var before: [Int32] = []
    phones = graph.nodes.map { node in
      let first = before.count
      before += node.before
      let moves = transitions[Int(node.states.transitions)]
      return Phone(
        states: node.states, stay: moves.stay, leave: moves.leave,
        cost: flat(node.arc == nil ? node.cost + Self.silenceCost : node.cost),
        before: first..<before.count, word: node.isFirst ? node.arc ?? -1 : -1)
    }
    self.before = before
  }

  /// The likelihood of leaving a phone after a frame.
  private func exit(_ node: Int, _ frame: Int) -> Float {
    guard frame >= 0, windows[frame].contains(node) else { return 0 }
    return cells[offsets[frame] + node - windows[frame].lowerBound].paths[2]
      * phones[node].leave[2]
  }

  /// Goes from the beginning to the end.
  mutating func goForward(_ features: SpeechFeatures, _ model: SoundModel) {
    var scores = StateScores(of: model)
    let sounds = phones.map { model.weights.phone(of: Int($0.states.first)) }
    for first in stride(from: 0, to: windows.count, by: StateScores.capacity) {
      let frames = Array(first..<min(windows.count, first + StateScores.capacity))
      var books = Set<Int>()
      for frame in frames { books.formUnion(sounds[windows[frame]]) }
      scores.score(features, frames, phones: books.sorted())
      for slot in frames.indices { pass(slot, first + slot, scores) }
    }
  }

  private mutating func pass(_ slot: Int, _ frame: Int, _ scores: borrowing StateScores) {
    let best = scores.bests[slot]
    let start = cells.count
    var sum: Float = 0
    for node in windows[frame] {
      let phone = phones[node]
      var entry: Float = 0
      if frame == 0 {
        if starts.contains(node) { entry = 1 }
      } else {
        for index in phone.before { entry += exit(Int(before[index]), frame - 1) }
      }
      entry *= phone.cost
      var old = SIMD4<Float>.zero
      if frame > 0, windows[frame - 1].contains(node) {
        old = cells[offsets[frame - 1] + node - windows[frame - 1].lowerBound].paths
      }
      let moved = old * phone.leave
      let heard = Self.flatness * (scores.scores(slot, phone.states) - best)
      let fit = SIMD4(expf(heard[0]), expf(heard[1]), expf(heard[2]), 1)
      var paths = (old * phone.stay + SIMD4(entry, moved[0], moved[1], 0)) * fit
      sum += paths[0] + paths[1] + paths[2]
      paths[3] = entry
      cells.append(Cell(paths: paths, fit: fit))
    }
    let scale = sum >= .leastNormalMagnitude ? 1 / sum : 0
    for index in start..<cells.count { cells[index].paths *= scale }
    offsets.append(start)
    scales.append(scale)
  }

  /// The likelihood of all paths.
  func sumOfEnds() -> Float? {
    let sum = ends.reduce(0) { $0 + exit($1, windows.count - 1) }
    return sum > 0 ? sum : nil
  }

  /// Goes back from the end, and tells how likely each word begins in each frame.
  func goBackward(from whole: Float) -> [Int: [(frame: Int, likelihood: Float)]] {
    var begins: [Int: [Int: Float]] = [:]
    var after = [Float](repeating: 0, count: phones.count)
    for node in ends { after[node] = 1 }
    var later: [SIMD4<Float>] = []
    for frame in windows.indices.reversed() {
      let window = windows[frame]
      let next = frame + 1 < windows.count ? windows[frame + 1] : 0..<0
      var rest: [SIMD4<Float>] = []
      rest.reserveCapacity(window.count)
      for node in window {
        var ahead = SIMD4<Float>.zero
        if next.contains(node) { ahead = later[node - next.lowerBound] }
        let moved = SIMD4(ahead[1], ahead[2], after[node], 0)
        rest.append(ahead * phones[node].stay + moved * phones[node].leave)
      }
      for node in next { for index in phones[node].before { after[Int(before[index])] = 0 } }
      if next.isEmpty { for node in ends { after[node] = 0 } }
      for node in window {
        let cell = cells[offsets[frame] + node - window.lowerBound]
        let heard = rest[node - window.lowerBound] * cell.fit * scales[frame]
        rest[node - window.lowerBound] = heard
        let entered = heard[0] * phones[node].cost
        for index in phones[node].before { after[Int(before[index])] += entered }
        let word = phones[node].word
        guard word >= 0 else { continue }
        // The entry was scaled with its frame once already.
        let likelihood = cell.paths[3] / scales[frame] * heard[0] / whole
        guard likelihood > 1e-6 else { continue }
        begins[word, default: [:]][frame, default: 0] += likelihood
      }
      later = rest
    }
    return begins.mapValues { frames in
      frames.map { (frame: $0.key, likelihood: $0.value) }.sorted { $0.frame < $1.frame }
    }
  }
}

import Glibc

/// Finds the stretch that is most like a given one, by normalized cross-correlation of the sum of
/// all channels: first coarsely over means of a few frames, then frame by frame around the best.
struct SimilaritySearch: ~Copyable {
  private let length: Int
  private let step: Int
  private let natural: Scratch<Float>
  private let candidates: Scratch<Float>
  private let coarseNatural: Scratch<Float>
  private let coarseCandidates: Scratch<Float>

  /// Compares stretches of `length` frames at up to 2 · `reach` + 1 places; means are over `step`
  /// frames.
  init(length: Int, reach: Int, step: Int) {
    self.length = length
    self.step = step
    natural = Scratch(repeating: 0, count: length)
    candidates = Scratch(repeating: 0, count: length + 2 * reach + 1)
    coarseNatural = Scratch(repeating: 0, count: length / step + 1)
    coarseCandidates = Scratch(repeating: 0, count: (length + 2 * reach) / step + 2)
  }

  /// Forgets all channels.
  func clear() {
    unsafe natural.start.update(repeating: 0, count: natural.count)
    unsafe candidates.start.update(repeating: 0, count: candidates.count)
  }

  /// Adds a channel: `length` samples that are sought, and `count` among which to look.
  func add(natural sought: UnsafePointer<Float>, candidates: UnsafePointer<Float>, count: Int) {
    precondition(count <= self.candidates.count)
    for index in 0..<length { unsafe natural.start[index] += sought[index] }
    for index in 0..<count { unsafe self.candidates.start[index] += candidates[index] }
  }

  /// The best of the first `count` places; of several that are as good, or nearly, `preferred`.
  func best(count: Int, preferring preferred: Int) -> Int {
    let coarseLength = length / step
    for index in 0..<coarseLength { coarseNatural[index] = mean(natural, index) }
    let places = (count - 1) / step + 1
    for index in 0..<places + coarseLength - 1 { coarseCandidates[index] = mean(candidates, index) }

    var (coarse, coarseScore) = (preferred / step, -Float.infinity)
    for place in 0..<places {
      let score = unsafe SimilaritySearch.score(
        coarseNatural.start, coarseCandidates.start + place, count: coarseLength)
      if score > coarseScore { (coarse, coarseScore) = (place, score) }
    }
    var best = preferred
    // What is gained by moving away must be more than rounding.
    var bestScore = score(at: preferred) + 1e-4
    for place in max(0, (coarse - 1) * step)...min(count - 1, (coarse + 1) * step) {
      let score = score(at: place)
      if score > bestScore { (best, bestScore) = (place, score) }
    }
    return best
  }

  private func mean(_ samples: borrowing Scratch<Float>, _ index: Int) -> Float {
    var sum: Float = 0
    for offset in 0..<step {
      let place = index * step + offset
      if place < samples.count { unsafe sum += samples.start[place] }
    }
    return sum
  }

  private func score(at place: Int) -> Float {
    unsafe SimilaritySearch.score(natural.start, candidates.start + place, count: length)
  }

  /// The correlation over the root of the candidate's energy, from −1 to 1 but for the constant
  /// energy of what is sought, taken relative to it: 1 for the same wave.
  private static func score(
    _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, count: Int
  ) -> Float {
    var (product, energyA, energyB) = (SIMD8<Float>(), SIMD8<Float>(), SIMD8<Float>())
    var index = 0
    while index &+ 8 <= count {
      let x = unsafe LinkedLevel.load(a + index)
      let y = unsafe LinkedLevel.load(b + index)
      product += x * y
      energyA += x * x
      energyB += y * y
      index &+= 8
    }
    var (sum, sumA, sumB) = (product.sum(), energyA.sum(), energyB.sum())
    while index < count {
      unsafe sum += a[index] * b[index]
      unsafe sumA += a[index] * a[index]
      unsafe sumB += b[index] * b[index]
      index &+= 1
    }
    let energy = (sumA * sumB).squareRoot()
    return energy > 1e-20 && energy.isFinite ? sum / energy : 0
  }
}

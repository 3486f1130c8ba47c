import Glibc

/// How well a few frames of sound fit each state of each phone: logarithms of likelihoods, as
/// libpocketsphinx reckons them. It belongs to one thread at a time.
///
/// Each part of the features is held against the best density of all phones, and counts no less
/// than a floor: what no phone explains cannot rule out any.
struct StateScores {
  /// How many frames are scored at once.
  static let capacity = 32
  /// What a part counts at least: 96 of the library's steps.
  private static let floor: Float = -96 * 1024 * 9.9995e-5

  private static let least = expf(floor)

  private let model: SoundModel
  private let groupCount: Int
  private let allPhones: [Int]
  private var splats: [SIMD4<Float>]
  private var tops: [DensityCodebooks.Top]
  private var scores: [SIMD4<Float>]
  /// The best of all states, for each frame.
  private(set) var bests: [Float]

  init(of model: SoundModel) {
    self.model = model
    groupCount = model.weights.placeCount / 4
    allPhones = Array(0..<model.densities.count)
    splats = Array(repeating: .zero, count: Self.capacity * SpeechFeatures.width)
    tops = Array(
      repeating: DensityCodebooks.Top(),
      count: Self.capacity * model.densities.count * DensityCodebooks.partCount)
    scores = Array(repeating: .zero, count: Self.capacity * groupCount)
    bests = Array(repeating: 0, count: Self.capacity)
  }

  /// The score of a state, by its place, for one of the frames.
  @inline(__always)
  private func score(_ slot: Int, _ place: Int32) -> Float {
    let index = slot * groupCount * 4 + Int(place)
    precondition(index < scores.count * 4)
    return unsafe scores.span.bytes.unsafeLoad(fromByteOffset: 4 * index, as: Float.self)
  }

  /// The scores of the three states of a phone for one of the frames; last, 0.
  @inline(__always)
  func scores(_ slot: Int, _ phone: PhoneStates) -> SIMD4<Float> {
    SIMD4(score(slot, phone.first), score(slot, phone.second), score(slot, phone.third), 0)
  }

  /// Scores frames, no more than the capacity; they take the first slots.
  ///
  /// - Parameter phones: the numbers of those that are wanted; nil for all. The scores of the others
  ///   mean nothing then, and the best is that of those.
  ///
  /// Complexity: O(frames × densities × coefficients).
  mutating func score(_ features: SpeechFeatures, _ frames: [Int], phones: [Int]? = nil) {
    let phones = phones ?? allPhones
    spread(features, frames)
    findTops((frames.count + 3) / 4 * 4, phones)
    scoreStates(frames.count, phones)
  }

  /// Finds the likeliest densities of all phones, as far as they come near the best.
  private mutating func findTops(_ frameCount: Int, _ phones: [Int]) {
    let model = model
    let splats = splats
    var bests = Array(
      repeating: SIMD4<Float>(repeating: -.infinity), count: frameCount / 4)
    for part in 0..<DensityCodebooks.partCount {
      for block in bests.indices { bests[block] = SIMD4(repeating: -.infinity) }
      for book in phones {
        let place = (book * DensityCodebooks.partCount + part) * Self.capacity
        for block in bests.indices {
          let found = model.densities.evaluate(
            codebook: book, part: part, splats.span, at: block * 4,
            above: bests[block] + Self.floor)
          tops[place + block * 4] = found.0
          tops[place + block * 4 + 1] = found.1
          tops[place + block * 4 + 2] = found.2
          tops[place + block * 4 + 3] = found.3
          let best = SIMD4(
            found.0.values[0], found.1.values[0], found.2.values[0], found.3.values[0])
          bests[block].replace(with: best, where: best .> bests[block])
        }
      }
      for frame in 0..<frameCount {
        normalise(part, frame, phones, by: bests[frame / 4][frame % 4])
      }
    }
  }

  /// Scores the states of all phones by the densities that were found.
  private mutating func scoreStates(_ frameCount: Int, _ phones: [Int]) {
    let model = model
    let tops = tops
    let groupCount = groupCount
    var best = [SIMD4<Float>](repeating: SIMD4(repeating: -.infinity), count: frameCount)
    var results = scores.mutableSpan
    for book in phones {
      let place = book * DensityCodebooks.partCount * Self.capacity
      for frame in 0..<frameCount {
        let found = model.weights.score(
          phone: book,
          (
            tops[place + frame], tops[place + Self.capacity + frame],
            tops[place + 2 * Self.capacity + frame]
          ), into: &results, from: frame * groupCount)
        best[frame].replace(with: found, where: found .> best[frame])
      }
    }
    for frame in 0..<frameCount { bests[frame] = best[frame].max() }
  }

  /// Lays each coefficient out four times; frames that fill up to a multiple of four are the last.
  private mutating func spread(_ features: SpeechFeatures, _ frames: [Int]) {
    guard let last = frames.last else { return }
    for slot in 0..<(frames.count + 3) / 4 * 4 {
      let source = (slot < frames.count ? frames[slot] : last) * SpeechFeatures.width
      for index in 0..<SpeechFeatures.width {
        splats[slot * SpeechFeatures.width + index] = SIMD4(
          repeating: features.values[source + index])
      }
    }
  }

  /// Makes likelihoods of the densities' logarithms, against the best of all phones.
  private mutating func normalise(_ part: Int, _ frame: Int, _ phones: [Int], by best: Float) {
    let none = UInt8(model.densities.densityCount)
    for book in phones {
      let place = (book * DensityCodebooks.partCount + part) * Self.capacity + frame
      tops[place].normalise(by: best, floor: Self.floor, Self.least, none: none)
    }
  }
}

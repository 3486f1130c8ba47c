import Glibc

/// What was heard of each density of a model in a piece of sound of which the states are known: in
/// how many frames, and the sum of their features.
struct DensityStatistics {
  /// By group of four densities.
  private(set) var counts: [SIMD4<Float>]
  /// By group of four densities and coefficient.
  private(set) var sums: [SIMD4<Float>]

  /// A density that explains less of a frame than this is not counted.
  private static let least: Float = 0.01

  /// Counts a piece: each frame by how likely it comes from each density of its state.
  ///
  /// - Parameter states: by frame, the place of its state.
  ///
  /// Complexity: O(frames × densities of a phone).
  init(of features: SpeechFeatures, _ states: [Int32], _ model: SoundModel) {
    let densities = model.densities
    let width = DensityCodebooks.width
    counts = Array(repeating: .zero, count: densities.groupCount)
    sums = Array(repeating: .zero, count: densities.groupCount * width)
    for (frame, state) in states.enumerated() {
      let place = Int(state)
      let phone = model.weights.phone(of: place)
      for part in 0..<DensityCodebooks.partCount {
        let start = frame * SpeechFeatures.width + part * width
        add(
          features.values[start..<start + width],
          to: densities.groups(codebook: phone, part: part), model
        ) { model.weights.weight(of: place, part: part, density: $0) }
      }
    }
  }

  /// Counts the features of a frame.
  private mutating func add(
    _ features: ArraySlice<Float>, to groups: Range<Int>, _ model: SoundModel,
    weight: (Int) -> Float
  ) {
    let logarithms = groups.map { model.densities.logarithms(of: $0, features) }
    let best = logarithms.reduce(-Float.infinity) { max($0, $1.max()) }
    var whole: Float = 0
    var shares = [SIMD4<Float>](repeating: .zero, count: groups.count)
    for (index, four) in logarithms.enumerated() where four.max() > best - 12 {
      for lane in 0..<4 where four[lane] > best - 12 {
        shares[index][lane] = expf(four[lane] - best) * weight(4 * index + lane)
      }
      whole += shares[index].sum()
    }
    guard whole > 0 else { return }
    for (index, group) in groups.enumerated() {
      var share = shares[index] / whole
      share.replace(with: 0, where: share .< Self.least)
      guard share.max() > 0 else { continue }
      counts[group] += share
      for (coefficient, value) in features.enumerated() {
        sums[group * features.count + coefficient] += share * value
      }
    }
  }
}

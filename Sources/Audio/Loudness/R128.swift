/// A running loudness measurement of EBU R 128, which yields the energies of 100 ms steps, weighted
/// as ITU-R BS.1770-4 specifies.
final class R128: Resumable {
  private(set) var history = LoudnessHistory()

  /// Two channels with nonzero weight, and their filters; the last channel may stand alone.
  private struct Pair {
    var channels: [Int]
    var weights: KWeightedPair.Lanes
    var filters = KWeightedPair()
  }

  private let coefficients: KWeightedPair.Coefficients
  private var pairs: [Pair]
  private let stepLength: Int
  /// Frames done in the current step.
  private var phase = 0

  /// Decayed states are cleared on a fixed grid of this many frames, from the beginning of each
  /// step, because the result must not depend on block boundaries.
  private static let grid = 256
  /// The two channels of a pair with damaged samples replaced.
  private let rows = Scratch<Float>(repeating: 0, count: 2 * grid)

  /// - Parameter isDualMono: whether one channel counts as two, for sound that both speakers play.
  init(format: AudioFormat, isDualMono: Bool = false) {
    coefficients = KWeightedPair.Coefficients(sampleRate: format.sampleRate)
    stepLength = LoudnessHistory.stepLength(at: format.sampleRate).count
    var weights = Self.weights(of: format)
    if isDualMono, weights.count == 1 { weights = [2] }
    let counting = weights.indices.filter { weights[$0] > 0 }
    pairs = stride(from: 0, to: counting.count, by: 2).map { start in
      let channels = Array(counting[start...].prefix(2))
      return Pair(
        channels: channels,
        weights: KWeightedPair.Lanes(
          weights[channels[0]], channels.count == 2 ? weights[channels[1]] : 0))
    }
  }

  /// The channel weights of ITU-R BS.1770-4, table 4: surrounds 1.41, front and rear 1, low
  /// frequencies 0.
  ///
  /// The back channels are the surrounds if there are no side channels. Channels without positions
  /// all have weight 1.
  private static func weights(of format: AudioFormat) -> [Double] {
    let positions = format.positions
    guard !positions.isEmpty else { return Array(repeating: 1, count: format.channelCount) }
    let hasSides = !positions.isDisjoint(with: [.sideLeft, .sideRight])
    return positions.channels.map { position in
      switch position {
      case .lowFrequency, .lowFrequency2: format.channelCount == 1 ? 1 : 0
      case .sideLeft, .sideRight: 1.41
      case .backLeft, .backRight: hasSides ? 1 : 1.41
      default: 1
      }
    }
  }

  /// Adds a block. Allocates a little for every 100 ms.
  func add(_ block: borrowing AudioBuffer) {
    var start = 0
    while start < block.frameCount.count {
      let cellEnd = min((phase / Self.grid + 1) * Self.grid, stepLength)
      let count = min(cellEnd - phase, block.frameCount.count - start)
      for index in pairs.indices { add(block, start: start, count: count, to: &pairs[index]) }
      start += count
      phase += count
      if phase == cellEnd { finishCell() }
    }
  }

  private func add(
    _ block: borrowing AudioBuffer, start: Int, count: Int, to pair: inout Pair
  ) {
    for (row, channel) in pair.channels.enumerated() {
      unsafe FiniteSamples.copy(
        from: block.baseAddress(ofChannel: channel) + start, to: rows.start + row * Self.grid,
        count: count)
    }
    // A single channel is paired with itself at weight 0.
    let second = pair.channels.count == 2 ? Self.grid : 0
    unsafe pair.filters.add(rows.start, rows.start + second, count: count, coefficients)
  }

  private func finishCell() {
    for index in pairs.indices { pairs[index].filters.dropRemains() }
    guard phase == stepLength else { return }
    phase = 0
    var energy = 0.0
    for index in pairs.indices {
      energy += (pairs[index].weights * pairs[index].filters.takeSquares()).sum()
    }
    history.append(energy * coefficients.scale / Double(stepLength))
  }

  /// The complete steps, and the filters within the current one.
  func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(&phase, in: 0..<stepLength)
    for index in pairs.indices { try coder.pass(&pairs[index].filters) }
    try history.code(&coder)
  }
}

/// K-weights two channels side by side, one per lane, and sums their squares.
///
/// The filters are arranged so that each recursion is one product and one sum long: the processor
/// overlaps the shelf of one frame with the low cut of another. Constant factors are applied to the
/// sum.
struct KWeightedPair: BitwiseCopyable {
  typealias Lanes = SIMD2<Double>

  /// The filter coefficients: scalars, because vectors of them compile to code at half the speed.
  struct Coefficients {
    /// The factor that turns the sums into those of K-weighted sound.
    let scale: Double
    fileprivate let b1, b2, a1, a2: Double
    fileprivate let meanStep, decay: Double

    init(sampleRate: Hertz) {
      let shelf = BiquadCoefficients.headShelf(sampleRate: sampleRate)
      let lowCut = BiquadCoefficients.lowCut(sampleRate: sampleRate)
      scale = shelf.b0 * shelf.b0
      (b1, b2) = (shelf.b1 / shelf.b0, shelf.b2 / shelf.b0)
      (a1, a2) = (shelf.a1, shelf.a2)
      meanStep = 1 + lowCut.a1 + lowCut.a2
      decay = lowCut.a2 - meanStep
    }
  }

  /// The shelf in direct form II: its inner signal, one and two frames ago.
  private var w1 = Lanes.zero
  private var w2 = Lanes.zero
  /// The low cut, 1 − 2z⁻¹ + z⁻² over 1 + a₁z⁻¹ + a₂z⁻², as two sums. With the inner signal u and
  /// its slope d[n] = u[n] − u[n−1], the denominator is d[n] = v[n] + a₂d[n−1] − (1 + a₁ +
  /// a₂)u[n−1], and the output d[n] − d[n−1]. Unlike u, the slope and the last product, which
  /// follows the sound's mean, stay small at high rates.
  private var slope = Lanes.zero
  /// (1 + a₁ + a₂)u, one frame behind the slope; `decay` holds the rest.
  private var mean = Lanes.zero

  /// The unscaled sum of squares since the last `takeSquares()`.
  private var squares = Lanes.zero

  /// Adds `count` frames. Each square is added on its own, so the result does not depend on block
  /// boundaries.
  mutating func add(
    _ first: UnsafePointer<Float>, _ second: UnsafePointer<Float>, count: Int,
    _ coefficients: borrowing Coefficients
  ) {
    let (b1, b2) = (coefficients.b1, coefficients.b2)
    let (a1, a2) = (coefficients.a1, coefficients.a2)
    let (meanStep, decay) = (coefficients.meanStep, coefficients.decay)
    var (w1, w2, slope, mean) = (self.w1, self.w2, self.slope, self.mean)
    var squares = self.squares
    for frame in 0..<count {
      let x = unsafe Lanes(Double(first[frame]), Double(second[frame]))
      let w = (x - a2 * w2) - a1 * w1
      let v = (w + b2 * w2) + b1 * w1
      (w2, w1) = (w1, w)
      let next = (v - mean) + decay * slope
      mean += meanStep * slope
      let y = next - slope
      slope = next
      squares += y * y
    }
    (self.w1, self.w2, self.slope, self.mean) = (w1, w2, slope, mean)
    self.squares = squares
  }

  /// The sums of squares, which are reset.
  mutating func takeSquares() -> Lanes {
    defer { squares = .zero }
    return squares
  }

  /// Clears states that have decayed below −500 dB, long before they become subnormal and slow.
  mutating func dropRemains() {
    let limit = Lanes(repeating: 1e-25)
    func drop(_ state: inout Lanes) {
      state.replace(with: 0, where: (state .< limit) .& (state .> 0 - limit))
    }
    drop(&w1)
    drop(&w2)
    drop(&slope)
    drop(&mean)
  }
}

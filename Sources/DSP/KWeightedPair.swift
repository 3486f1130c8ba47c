import AudioModel

/// K-weights two channels side by side, one in each lane, and sums up the squares.
///
/// The form of the filters is what makes this fast: each recursion is one product and one sum long,
/// so that the processor is at the shelf of one frame while it finishes the low cut of another, and
/// what every frame would be scaled by is left to the sum.
struct KWeightedPair: BitwiseCopyable {
  typealias Lanes = SIMD2<Double>

  /// The filters' numbers. They are scalars, because the compiler pairs vectors of them in ways
  /// that halve the speed.
  struct Coefficients {
    /// What the sums must be multiplied by to be those of K-weighted sound.
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
  /// its slope d[n] = u[n] − u[n−1], the denominator says
  /// d[n] = v[n] + a₂d[n−1] − (1 + a₁ + a₂)u[n−1], and the output is d[n] − d[n−1]. Unlike u, the
  /// slope and the last product, which follows the sound's mean, do not grow large at high rates.
  private var slope = Lanes.zero
  /// (1 + a₁ + a₂)u, one frame behind the slope: what it lacks is in `decay`.
  private var mean = Lanes.zero

  /// The squares since they were last taken, unscaled.
  private var squares = Lanes.zero

  /// Hears `count` frames. Every square is added on its own, so how a stretch is cut makes no
  /// difference.
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

  /// The sums of squares, which begin anew.
  mutating func takeSquares() -> Lanes {
    defer { squares = .zero }
    return squares
  }

  /// Sets states to zero that have decayed below −500 dB, long before they would become subnormal
  /// and slow every operation down.
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

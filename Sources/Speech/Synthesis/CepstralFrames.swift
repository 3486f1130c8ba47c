import Glibc

/// A sound as what its spectra look like, a hundred times a second: cepstra of the bands, freed of
/// the voice's and the room's own colour.
struct CepstralFrames {
  /// A frame: the cepstrum, and how fast its first coefficients change.
  typealias Vector = SIMD16<Float>

  /// The frames.
  private(set) var vectors: [Vector]
  /// Which of them are silent.
  private(set) var isSilent: [Bool]

  /// Coefficients of the cepstrum; what else a vector holds is how they change.
  private static let order = 13
  /// So many frames on either side tell how a coefficient changes.
  private static let reach = 2
  /// What is weaker than speech by this factor is silence.
  private static let silence: Float = 0.003
  /// So much of a band's own speech is added to it: below, nothing is compared.
  private static let floor: Float = 0.003
  /// How much less each coefficient counts than the one before: finer detail is the speaker's.
  private static let decay: Float = 0.72
  /// How much more the changes count than the coefficients.
  private static let slopeWeight: Float = 4

  /// What of a recording and of a synthetic voice can be compared: the voice at the recording's level
  /// and with its noise.
  static func pair(
    recording: BandPowers, synthetic: BandPowers
  ) -> (recording: CepstralFrames, synthetic: CepstralFrames) {
    let level = BandPowers.quantile(0.8, of: recording.totals)
    let gain = level / max(BandPowers.quantile(0.8, of: synthetic.totals), .leastNormalMagnitude)
    let noise = recording.quantiles(0.1)
    let bands = recording.quantiles(0.8)
    let faint = bands.map { max($0 * floor, 1e-12) }
    let total = noise.reduce(0, +)
    let threshold = max(level * silence, min(total * 4, level * 0.05))
    return (
      CepstralFrames(recording, gain: 1, added: faint, threshold: threshold),
      CepstralFrames(
        synthetic, gain: gain, added: zip(faint, noise).map { $0 + $1 }, threshold: threshold)
    )
  }

}

extension CepstralFrames {
  private init(_ powers: BandPowers, gain: Float, added: [Float], threshold: Float) {
    isSilent = powers.totals.map { $0 * gain < threshold }
    let table = Self.cosines(powers.bandCount)
    vectors = (0..<powers.count).map { frame in
      var vector = Vector()
      for band in 0..<powers.bandCount {
        let power = powers.values[frame * powers.bandCount + band] * gain + added[band]
        vector += table[band] * logf(power)
      }
      return vector
    }
    addSlopes()
    normalise()
  }

  /// For each band its part in every coefficient (DCT-II).
  private static func cosines(_ bandCount: Int) -> [Vector] {
    (0..<bandCount).map { band in
      var vector = Vector()
      for coefficient in 0..<order {
        vector[coefficient] = Float(
          cos(Double.pi * Double(coefficient) * (Double(band) + 0.5) / Double(bandCount)))
      }
      return vector
    }
  }

  private mutating func addSlopes() {
    let still = vectors
    for index in vectors.indices {
      let before = still[max(0, index - Self.reach)]
      let after = still[min(still.count - 1, index + Self.reach)]
      for slope in 0..<Vector.scalarCount - Self.order {
        vectors[index][Self.order + slope] = after[slope] - before[slope]
      }
    }
  }

  /// Gives every coefficient of what is not silent the mean 0 and a spread such that two frames by
  /// chance have a distance of 1.
  private mutating func normalise() {
    var sum = Vector()
    var squares = Vector()
    var count: Float = 0
    for (vector, silent) in zip(vectors, isSilent) where !silent {
      sum += vector
      squares += vector * vector
      count += 1
    }
    guard count > 1 else { return }
    let mean = sum / count
    let variance = squares / count - mean * mean
    let weights = Self.weights
    let scale = (weights / (variance + 1e-6) / (2 * weights.sum())).squareRoot()
    for index in vectors.indices { vectors[index] = (vectors[index] - mean) * scale }
  }

  /// What each coefficient counts in a distance.
  private static let weights: Vector = {
    var weights = Vector(repeating: slopeWeight)
    for index in 0..<order { weights[index] = powf(decay, Float(index)) }
    return weights
  }()

  /// The distance of a frame to one of another sound.
  func distance(_ frame: Int, to other: CepstralFrames, _ otherFrame: Int) -> Float {
    let difference = vectors[frame] - other.vectors[otherFrame]
    return (difference * difference).sum()
  }

  /// Writes the distances of some frames to another frame: 1 on average for those of different
  /// sounds.
  func fill(_ distances: inout [Float], _ range: Range<Int>, distancesTo other: Vector) {
    var target = distances.mutableSpan
    let source = vectors.span
    for index in range {
      let difference = source[index] - other
      target[index] = (difference * difference).sum()
    }
  }
}

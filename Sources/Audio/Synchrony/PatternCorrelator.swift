/// Finds stretches of one pattern in another by their normalised correlation, with overlap-save
/// convolution (Oppenheim and Schafer, Discrete-Time Signal Processing, 8.7.3) in blocks of bounded
/// size. Two bands share a complex transform: the real part of the product is the sum of both.
struct PatternCorrelator: ~Copyable {
  /// Where a stretch may lie, by its first frame in the reference, and the correlation there, −1…1.
  struct Place {
    let position: Int
    let score: Float
  }

  private static let mostFrames = 1 << 17

  private let reference: [SIMD4<Float>]
  private let stretch: Int
  /// Frames without a level that stand before and behind the reference.
  private let margin: Int
  /// All frames, with those of both margins.
  private let count: Int
  private let transform: FourierTransform
  /// The spectra of a block's two pairs of bands.
  private let lowReal, lowImaginary, highReal, highImaginary: Scratch<Float>
  /// A stretch's spectrum, and the product.
  private let real, imaginary, sumReal, sumImaginary: Scratch<Float>
  /// The sums of the reference's squares before each frame.
  private var energies: [Double] = [0]

  init(_ reference: BandPattern, stretch: Int, margin: Int) {
    self.reference = reference.frames
    self.stretch = stretch
    self.margin = margin
    count = reference.frames.count + 2 * margin
    var size = 16
    while size < min(Self.mostFrames, count + stretch) { size *= 2 }
    transform = FourierTransform(count: size)
    lowReal = Scratch(repeating: 0, count: size)
    lowImaginary = Scratch(repeating: 0, count: size)
    highReal = Scratch(repeating: 0, count: size)
    highImaginary = Scratch(repeating: 0, count: size)
    real = Scratch(repeating: 0, count: size)
    imaginary = Scratch(repeating: 0, count: size)
    sumReal = Scratch(repeating: 0, count: size)
    sumImaginary = Scratch(repeating: 0, count: size)
    energies.reserveCapacity(count + 1)
    for index in 0..<count {
      let frame = frame(index)
      energies.append((energies.last ?? 0) + Double((frame * frame).sum()))
    }
  }

  /// A frame by its place behind the beginning of the first margin; without a level outside the reference.
  private func frame(_ index: Int) -> SIMD4<Float> {
    reference.indices.contains(index - margin) ? reference[index - margin] : SIMD4()
  }

  /// The best places of each stretch that begins at one of `starts`, the best first.
  func places(of starts: [Int], in recording: BandPattern, atMost limit: Int) -> [[Place]] {
    var found: [[Place]] = starts.map { _ in [] }
    let step = transform.count - stretch + 1
    for block in stride(from: 0, through: count - stretch, by: step) {
      load(from: block)
      for (index, start) in starts.enumerated() {
        correlate(recording.frames, from: start)
        let energy = recording.frames[start..<start + stretch].reduce(0.0) {
          $0 + Double(($1 * $1).sum())
        }
        collect(
          block..<min(block + step, count - stretch + 1), energy, into: &found[index])
        found[index].sort { $0.score > $1.score }
        found[index].removeLast(max(0, found[index].count - limit))
      }
    }
    return found
  }

  /// Transforms a block of the reference.
  private func load(from first: Int) {
    for index in 0..<transform.count {
      let frame = frame(first + index)
      (lowReal[index], lowImaginary[index]) = (frame[0], frame[1])
      (highReal[index], highImaginary[index]) = (frame[2], frame[3])
    }
    unsafe transform.transform(lowReal.start, lowImaginary.start)
    unsafe transform.transform(highReal.start, highImaginary.start)
  }

  /// Leaves the correlation of a stretch with the block in `sumReal`, times the transform's length.
  private func correlate(_ frames: [SIMD4<Float>], from start: Int) {
    for isHigh in [false, true] {
      for index in 0..<transform.count {
        let frame = index < stretch ? frames[start + index] : SIMD4()
        (real[index], imaginary[index]) = isHigh ? (frame[2], frame[3]) : (frame[0], frame[1])
      }
      unsafe transform.transform(real.start, imaginary.start)
      for index in 0..<transform.count {
        let (a, b) =
          isHigh
          ? (highReal[index], highImaginary[index]) : (lowReal[index], lowImaginary[index])
        let product = (
          a * real[index] + b * imaginary[index], b * real[index] - a * imaginary[index]
        )
        sumReal[index] = isHigh ? sumReal[index] + product.0 : product.0
        sumImaginary[index] = isHigh ? sumImaginary[index] + product.1 : product.1
      }
    }
    // With the parts swapped it is the inverse.
    unsafe transform.transform(sumImaginary.start, sumReal.start)
  }

  /// Adds the peaks among `positions`.
  private func collect(_ positions: Range<Int>, _ energy: Double, into places: inout [Place]) {
    let scale = 1 / Double(transform.count)
    func score(_ position: Int) -> Float {
      guard positions.contains(position) else { return -1 }
      let own = energies[position + stretch] - energies[position]
      guard own > 1, energy > 1 else { return -1 }
      let sum = Double(sumReal[position - positions.lowerBound]) * scale
      return Float(sum / (own * energy).squareRoot())
    }
    var (before, here) = (Float(-1), score(positions.lowerBound))
    for position in positions {
      let next = score(position + 1)
      if here > 0, here > before, here >= next {
        places.append(Place(position: position - margin, score: here))
      }
      (before, here) = (here, next)
    }
  }
}

extension SIMD4<Float> {
  func sum() -> Float { (self[0] + self[1]) + (self[2] + self[3]) }
}

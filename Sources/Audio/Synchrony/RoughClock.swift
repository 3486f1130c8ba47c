/// Where one recording roughly lies in another, to a few hundredths of a second: a straight line, as
/// both clocks run evenly to within a part in a thousand.
package struct RoughClock: Hashable, Sendable {
  /// What is added to a time of the recording, in seconds, to have the reference's.
  package let lag: Double
  /// By how much that grows in each second.
  package let slope: Double
  /// How many stretches of the recording were compared, and how many lie on the line.
  package let (compared, agreeing): (Int, Int)
  /// What is added at the likeliest other place, where the sound repeats itself; nil if there is none.
  package let rivalLag: Double?
  /// How alike the sound is at that place, as a share of how alike it is on the line: 1 where nothing
  /// tells the two apart.
  package let rivalShare: Double

  /// The reference's time at a time of the recording, both in seconds.
  package func reference(at time: Double) -> Double { time + lag + slope * time }

  /// A stretch's place in the reference, by the pattern's correlation there, −1…1.
  private struct Candidate {
    let start: Int
    let lag: Int
    let score: Float
  }

  /// Twenty seconds of a pattern are compared at once.
  private static let stretch = 2048
  /// Frames of a stretch that must lie in the reference: nine seconds, a little less than what two
  /// recordings must share. The rest may lie before its beginning or behind its end.
  private static let leastInside = 900
  private static let mostStretches = 48
  private static let candidatesEach = 5
  private static let mostSlope = 1e-3
  /// Frames by which a candidate may miss the line.
  private static let tolerance = 4.0
  /// Frames that a slope needs to be told from the candidates' own errors.
  private static let leastSpan = 20_000
  /// How many other places are compared with the line.
  private static let mostRivals = 16

  /// Finds `recording` in `reference`; nil where a pattern is empty. A result is only the likeliest
  /// place: whether sound is shared, `ClockMap` decides.
  ///
  /// Complexity: O(*n* log *n*) for *n* frames of the reference, times 48 stretches at most; memory
  /// does not grow with either.
  package init?(of recording: BandPattern, in reference: BandPattern) {
    let length = min(Self.stretch, recording.frames.count, reference.frames.count)
    guard length > 16 else { return nil }
    let last = recording.frames.count - length
    // One of them lies in a short reference for the most part.
    let distance = reference.frames.count > Self.stretch ? length : length / 2
    let count = min(Self.mostStretches, 1 + (last + distance - 1) / distance)
    let starts = (0..<count).map { count == 1 ? 0 : last * $0 / (count - 1) }
    let margin = max(0, length - Self.leastInside)
    let correlator = PatternCorrelator(reference, stretch: length, margin: margin)
    var found: [Candidate] = []
    for (start, places) in zip(
      starts, correlator.places(of: starts, in: recording, atMost: Self.candidatesEach))
    {
      for place in places {
        found.append(Candidate(start: start, lag: place.position - start, score: place.score))
      }
    }
    guard let line = Self.line(through: found) else { return nil }
    (compared, agreeing) = (count, line.agreeing)
    lag = line.lag / BandPattern.frameRate
    slope = line.slope
    let rival = Self.rival(of: line.lag, line.slope, found) { start, lag in
      Self.likeness(recording.frames, start, reference.frames, lag, count: length, margin: margin)
    }
    rivalLag = rival.map { $0.lag / BandPattern.frameRate }
    rivalShare = rival?.share ?? 0
  }

  /// The line beside the best one on which the stretches are most alike. Both are compared where both
  /// have sound.
  /// - Parameter likeness: the correlation of the stretch that begins at a frame with the place where it
  ///   lies with a lag; nil outside of the reference.
  private static func rival(
    of lag: Double, _ slope: Double, _ found: [Candidate],
    _ likeness: (_ start: Int, _ lag: Int) -> Double?
  ) -> (lag: Double, share: Double)? {
    /// The best within the tolerance of a line.
    func best(_ start: Int, _ lag: Double) -> Double? {
      let middle = Int((lag + slope * Double(start)).rounded())
      return (middle - Int(tolerance)...middle + Int(tolerance)).compactMap { likeness(start, $0) }
        .max()
    }
    let starts = Set(found.map(\.start)).sorted()
    let own = starts.map { best($0, lag) }
    var lags: [Double] = []
    for other in found.sorted(by: { $0.score > $1.score }) where lags.count < mostRivals {
      let place = Double(other.lag) - slope * Double(other.start)
      if ([lag] + lags).allSatisfy({ abs($0 - place) > 2 * tolerance }) { lags.append(place) }
    }
    let rivals = lags.compactMap { place -> (lag: Double, share: Double)? in
      let both = zip(own, starts).compactMap { own, start in
        own.flatMap { own in best(start, place).map { (own: own, other: $0) } }
      }
      let sum = both.reduce(0) { $0 + max(0, $1.own) }
      let others = both.reduce(0) { $0 + max(0, $1.other) }
      return sum > 0 ? (place, others / sum) : nil
    }
    return rivals.max { $0.share < $1.share }
  }

  /// The normalised correlation of a stretch of one pattern with one of another, −1…1; nil where one of
  /// them is silent, or more than `margin` frames of it lie outside the other.
  private static func likeness(
    _ frames: [SIMD4<Float>], _ start: Int, _ others: [SIMD4<Float>], _ lag: Int, count: Int,
    margin: Int
  ) -> Double? {
    guard start + lag >= -margin, start + lag + count <= others.count + margin else { return nil }
    var (product, own, other) = (SIMD4<Float>(), SIMD4<Float>(), SIMD4<Float>())
    for index in start..<start + count {
      let a = frames[index]
      own += a * a
      guard others.indices.contains(index + lag) else { continue }
      let b = others[index + lag]
      product += a * b
      other += b * b
    }
    let scale = (Double(own.sum()) * Double(other.sum())).squareRoot()
    return scale > 1 ? Double(product.sum()) / scale : nil
  }

  /// The line with the greatest sum of scores near it.
  private static func line(
    through found: [Candidate]
  ) -> (lag: Double, slope: Double, agreeing: Int)? {
    var best: (score: Float, lag: Double, slope: Double) = (0, 0, 0)
    for (index, first) in found.enumerated() {
      for second in found[index...] where second.start > first.start || second.lag == first.lag {
        let span = second.start - first.start
        let slope = span == 0 ? 0 : Double(second.lag - first.lag) / Double(span)
        guard abs(slope) <= mostSlope else { continue }
        let lag = Double(first.lag) - slope * Double(first.start)
        var score: Float = 0
        for other in found where isNear(other, lag, slope) { score += max(0, other.score) }
        if score > best.score { best = (score, lag, slope) }
      }
    }
    let near = found.filter { isNear($0, best.lag, best.slope) && $0.score > 0 }
    guard best.score > 0, let first = near.first, let last = near.last else { return nil }
    let weights = near.map { Double($0.score) }
    let total = weights.reduce(0, +)
    let start = zip(near, weights).reduce(0) { $0 + Double($1.0.start) * $1.1 } / total
    let lag = zip(near, weights).reduce(0) { $0 + Double($1.0.lag) * $1.1 } / total
    var (up, down) = (0.0, 0.0)
    for (candidate, weight) in zip(near, weights) {
      let distance = Double(candidate.start) - start
      up += weight * distance * (Double(candidate.lag) - lag)
      down += weight * distance * distance
    }
    let slope = last.start - first.start < leastSpan || down == 0 ? 0 : up / down
    return (lag - slope * start, slope, Set(near.map(\.start)).count)
  }

  private static func isNear(_ candidate: Candidate, _ lag: Double, _ slope: Double) -> Bool {
    abs(Double(candidate.lag) - lag - slope * Double(candidate.start)) <= tolerance
  }
}

/// Finds stretches of one pattern in another by their normalised correlation, with overlap-save
/// convolution (Oppenheim and Schafer, Discrete-Time Signal Processing, 8.7.3) in blocks of bounded
/// size. Two bands share a complex transform: the real part of the product is the sum of both.
private struct PatternCorrelator: ~Copyable {
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
  fileprivate func sum() -> Float { (self[0] + self[1]) + (self[2] + self[3]) }
}

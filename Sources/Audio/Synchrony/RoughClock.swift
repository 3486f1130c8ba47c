/// Where one recording roughly lies in another, to a few hundredths of a second: a straight line, as
/// both clocks run evenly to within a part in a thousand; or pieces of parallel lines where one of the
/// two has lost sound.
package struct RoughClock: Hashable, Sendable {
  /// A part of the recording in which it lies on one line.
  package struct Piece: Hashable, Sendable {
    /// By the recording, in seconds; the first one begins at 0, and the last one has no end. Between two
    /// of them is sound that the reference does not have.
    package let begin, end: Double
    /// What is added to a time in it, besides what the slope adds.
    package let lag: Double

    package init(begin: Double, end: Double, lag: Double) {
      (self.begin, self.end, self.lag) = (begin, end, lag)
    }
  }

  /// What is added to a time of most of the recording, in seconds, to have the reference's.
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

  /// In order; those later in the recording lie later in the reference too.
  package let pieces: [Piece]

  /// The reference's time at a time of one piece of the recording, both in seconds.
  package func reference(at time: Double, in piece: Int) -> Double {
    time + pieces[piece].lag + slope * time
  }

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
  static let tolerance = 4
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
    pieces = PieceFinder(recording, reference, line.lag, line.slope).pieces
    let rival = Self.rival(of: pieces, line.slope, found, stretch: length) { start, lag in
      Self.likeness(recording.frames, start, reference.frames, lag, count: length, margin: margin)
    }
    rivalLag = rival.map { $0.lag / BandPattern.frameRate }
    rivalShare = rival?.share ?? 0
  }

  /// The line beside those of the pieces on which the stretches are most alike. Both are compared where
  /// both have sound.
  /// - Parameter likeness: the correlation of the stretch that begins at a frame with the place where it
  ///   lies with a lag; nil outside of the reference.
  private static func rival(
    of pieces: [Piece], _ slope: Double, _ found: [Candidate], stretch: Int,
    _ likeness: (_ start: Int, _ lag: Int) -> Double?
  ) -> (lag: Double, share: Double)? {
    /// The best within the tolerance of a line.
    func best(_ start: Int, _ lag: Double) -> Double? {
      let middle = Int((lag + slope * Double(start)).rounded())
      return greatest(near: middle) { likeness(start, $0) }
    }
    let starts = Set(found.map(\.start)).sorted()
    let own = starts.map { start in
      let middle = Double(start + stretch / 2) / BandPattern.frameRate
      let piece = pieces.first { middle < $0.end } ?? pieces[pieces.count - 1]
      return best(start, piece.lag * BandPattern.frameRate)
    }
    let ownLags = pieces.map { $0.lag * BandPattern.frameRate }
    var lags: [Double] = []
    for other in found.sorted(by: { $0.score > $1.score }) where lags.count < mostRivals {
      let place = Double(other.lag) - slope * Double(other.start)
      if (ownLags + lags).allSatisfy({ abs($0 - place) > 2 * Double(tolerance) }) {
        lags.append(place)
      }
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

  /// The greatest likeness within the tolerance of a lag; nil where none is known.
  static func greatest(near lag: Int, _ likeness: (_ lag: Int) -> Double?) -> Double? {
    (lag - tolerance...lag + tolerance).compactMap(likeness).max()
  }

  /// The normalised correlation of a stretch of one pattern with one of another, −1…1; nil where one of
  /// them is silent, or more than `margin` frames of it lie outside the other.
  static func likeness(
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
    abs(Double(candidate.lag) - lag - slope * Double(candidate.start)) <= Double(tolerance)
  }
}

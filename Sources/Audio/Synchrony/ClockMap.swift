/// How the clock of one recorder runs against that of another: piecewise linear, as the drift of a
/// quartz changes with its temperature.
package struct ClockMap: Hashable, Sendable {
  /// A lag that was measured at one time.
  package struct Point: Hashable, Sendable {
    /// A time of the recording, in seconds.
    package let time: Double
    /// What is added to it to have the reference's time.
    package let lag: Double
    /// See `LagMeter.Finding`.
    package let quality: Double
    /// The number of the piece of the recording that it lies in.
    package let piece: Int

    package init(time: Double, lag: Double, quality: Double, piece: Int = 0) {
      (self.time, self.lag, self.quality, self.piece) = (time, lag, quality, piece)
    }
  }

  /// A moment in both clocks, in seconds.
  package struct Knot: Hashable, Sendable {
    package let recording: Double
    package let reference: Double
  }

  /// A moment from which on the recording lies elsewhere: sound is missing in it there, or was put in.
  package struct Jump: Hashable, Sendable {
    /// When, by the recording, in seconds; accurate to the distance of measurements, or to some tenths of
    /// a second where it is a cut.
    package let time: Double
    /// By how much it lies later from then on, in seconds.
    package let distance: Double
    /// Whether the map has a step there: nothing is in the place of what is missing, and what was put in is
    /// left out. Else the seconds around it are stretched.
    package let isCut: Bool
  }

  /// In order; straight lines go through them, and beyond the first and last. Two of one recording's time
  /// have silence between them, and of two of one reference's time what lies between is left out.
  package let knots: [Knot]
  /// By how much the recording's clock is faster than the reference's, in parts per million.
  package let drift: Double
  /// Points on the line, and all that were measured.
  package let (agreeing, measured): (Int, Int)
  /// The root mean square of what the points on the line miss it by, in seconds.
  package let residual: Double

  /// The share of clear measurements that agree, 0…1; less where the sound is nearly as alike at another
  /// place.
  package let confidence: Double

  /// In order.
  package let jumps: [Jump]
  /// Where the recording begins and ceases to be alike, in seconds by the recording, if its sound goes on
  /// beyond; nil if it is alike as far as it has sound.
  package let (unlikeUntil, unlikeFrom): (Double?, Double?)
  /// The share of measurements that lie beyond these, 0…1.
  package let unlikeShare: Double

  /// A measurement below it is not clear, and does not count.
  package static let leastQuality = 7.0
  /// Points whose lags differ by more from their neighbours' median are errors.
  private static let tolerance = 0.003
  /// The distance of knots, and how far around it points count, in seconds.
  private static let (spacing, reach) = (30.0, 90.0)
  private static let leastPoints = 3
  private static let leastShare = 0.5
  /// A drift is not told from the points' errors within fewer seconds.
  private static let leastSpan = 20.0

  /// The least jump, in seconds, which is that of a microphone which moves by two metres at once; and by how
  /// much it exceeds what points miss their lines by.
  private static let (leastJump, leastClearness) = (0.006, 6.0)
  /// Points on each side of a jump that tell it.
  private static let jumpPoints = 6
  /// Measurements in a row that are not clear, at an end of a recording.
  private static let leastUnlike = 3

  /// From this share on, another place as alike lowers the confidence, which reaches 0 at 1.
  private static let leastRivalShare = 0.75

  /// Fits a map to measured points; nil where they do not agree, so that no sound is shared.
  ///
  /// Errors are those that differ from the median of their neighbours. A knot's place is a local
  /// regression, weighted by tricubes of the distance (Cleveland 1979).
  ///
  /// - Parameters:
  ///   - points: by ascending time.
  ///   - slope: of the rough line that they were measured along.
  ///   - rivalShare: as `RoughClock` has it, and `pieces` too.
  package init?(
    _ points: [Point], slope: Double, rivalShare: Double = 0, pieces: [RoughClock.Piece] = []
  ) {
    let kept = Self.clear(points, slope, pieceCount: pieces.count)
    let clear = kept.flatMap(\.clear)
    let good = kept.flatMap(\.good)
    guard good.count >= Self.leastPoints, let first = good.first, let last = good.last,
      Double(good.count) >= Self.leastShare * Double(clear.count)
    else { return nil }
    let parts = kept.map(\.good).flatMap { own in
      let bounds = [0] + Self.jumps(in: own) + [own.count]
      return zip(bounds, bounds.dropFirst()).map { Array(own[$0..<$1]) }
    }
    let isShort = last.time - first.time < Self.leastSpan
    let slope = isShort ? 0 : Line.slope(sharedBy: parts)
    var (knots, jumps): ([Knot], [Jump]) = ([], [])
    for (index, part) in parts.enumerated() {
      let own =
        isShort && parts.count == 1 ? Self.steadyKnots(of: part) : Self.knots(of: part, slope)
      defer { knots += own }
      guard index > 0, let before = knots.last else { continue }
      let (last, next) = (parts[index - 1][0].piece, part[0].piece)
      if last == next {
        let distance = Self.distance(parts[index - 1], part)
        jumps.append(Jump(time: part[0].time, distance: distance, isCut: false))
      } else if let (step, distance) = Self.step(
        before, pieces[last].end, own[0], pieces[next].begin, slope)
      {
        knots += step
        jumps.append(
          Jump(time: pieces[next].begin, distance: distance, isCut: !step.isEmpty))
      }
    }
    self.jumps = jumps
    // Beyond the points, the whole's drift is the best guess.
    let end = knots[knots.count - 1]
    let beyond = 3600.0
    knots.insert(
      Knot(
        recording: knots[0].recording - beyond,
        reference: knots[0].reference - beyond * (1 + slope)), at: 0)
    knots.append(
      Knot(recording: end.recording + beyond, reference: end.reference + beyond * (1 + slope)))
    self.knots = knots
    drift = -slope * 1e6
    func isUnlike(_ point: Point) -> Bool { point.quality < Self.leastQuality }
    let (head, tail) = (points.prefix(while: isUnlike), points.reversed().prefix(while: isUnlike))
    unlikeUntil = head.count >= Self.leastUnlike ? head.last?.time : nil
    unlikeFrom = tail.count >= Self.leastUnlike ? tail.last?.time : nil
    let unlikeCount = [head.count, tail.count].filter { $0 >= Self.leastUnlike }.reduce(0, +)
    unlikeShare = Double(unlikeCount) / Double(points.count)
    agreeing = good.count
    measured = points.count
    let certainty = (1 - rivalShare) / (1 - Self.leastRivalShare)
    confidence = Double(good.count) / Double(clear.count) * max(0, min(1, certainty))
    var squares = 0.0
    for point in good {
      let miss =
        Self.value(at: point.time, knots, \.recording, \.reference) - point.time - point.lag
      squares += miss * miss
    }
    residual = (squares / Double(good.count)).squareRoot()
  }

  /// The clear measurements, and those of them that agree, piece by piece. A piece without enough of them
  /// is none: most of its measurements are not clear, or do not agree.
  private static func clear(
    _ points: [Point], _ slope: Double, pieceCount: Int
  ) -> [(clear: [Point], good: [Point])] {
    func isClear(_ point: Point) -> Bool { point.quality >= leastQuality }
    if pieceCount < 2 {
      let clear = points.filter(isClear)
      return [(clear, agreeing(clear, slope))]
    }
    return (0..<pieceCount).compactMap { piece in
      let all = points.filter { $0.piece == piece }
      let clear = all.filter(isClear)
      let good = agreeing(clear, slope)
      return good.count >= leastPoints && 2 * good.count >= clear.count
        && 4 * clear.count >= all.count ? (clear, good) : nil
    }
  }

  /// The knots of the step between two pieces, and by how much the second one lies later; nil if it is no
  /// jump. No knots where the step would go back.
  /// - Parameters:
  ///   - end: of the first piece, in seconds by the recording, as `begin` is of the second.
  private static func step(
    _ before: Knot, _ end: Double, _ after: Knot, _ begin: Double, _ slope: Double
  ) -> (knots: [Knot], distance: Double)? {
    let last = before.reference + (end - before.recording) * (1 + slope)
    let next = after.reference - (after.recording - begin) * (1 + slope)
    let distance = (next - begin) - (last - end)
    guard abs(distance) >= leastJump else { return nil }
    if distance > 0 {
      // Sound is missing: one moment of the recording is two of the reference.
      let time = (end + begin) / 2
      let (last, next) = (last + time - end, next + time - begin)
      let knots = [Knot(recording: time, reference: last), Knot(recording: time, reference: next)]
      return (before.recording < time && time < after.recording ? knots : [], distance)
    }
    let middle = (last + next) / 2
    let (end, begin) = (end + middle - last, begin + middle - next)
    let knots = [
      Knot(recording: end, reference: middle), Knot(recording: begin, reference: middle),
    ]
    return (before.recording < end && begin < after.recording ? knots : [], distance)
  }

  /// The knots of points that are too few for a drift: they keep the lag at their beginning.
  private static func steadyKnots(of points: [Point]) -> [Knot] {
    let (first, last) = (points[0].time, points[points.count - 1].time)
    let lag = Line(points, slope: nil).value(at: first)
    return [first, last].map { Knot(recording: $0, reference: $0 + lag) }
  }

  /// The knots of points between which there is no jump.
  private static func knots(of points: [Point], _ slope: Double) -> [Knot] {
    let (first, last) = (points[0].time, points[points.count - 1].time)
    let span = last - first
    let whole = Line(points, slope: span < leastSpan ? slope : nil)
    let steps = max(1, Int(span / spacing))
    return (0...steps).map { step in
      let time = first + span * Double(step) / Double(steps)
      let line = span < 2 * spacing ? whole : Line(points, at: time, reach: reach)
      return Knot(recording: time, reference: time + line.value(at: time))
    }
  }

  /// The points that jumps come before, in order. O(n).
  private static func jumps(in points: [Point]) -> [Int] {
    var found: [(place: Int, distance: Double)] = []
    guard points.count >= 2 * leastPoints else { return [] }
    for place in leastPoints...(points.count - leastPoints) {
      let before = points[max(0, place - jumpPoints)..<place]
      let after = points[place..<min(points.count, place + jumpPoints)]
      let distance = abs(distance(Array(before), Array(after)))
      let noise = max(Line.miss(Array(before)), Line.miss(Array(after)))
      // Over a gap, as where nothing was heard for a while, the lines are less certain.
      let gap = points[place].time - points[place - 1].time
      let span = min(before.span, after.span)
      let certainty = leastClearness * noise * max(1, span > 0 ? gap / span : 1)
      guard distance >= max(leastJump, certainty) else { continue }
      if let last = found.last, place - last.place < leastPoints {
        if last.distance < distance { found[found.count - 1] = (place, distance) }
      } else {
        found.append((place, distance))
      }
    }
    return found.map(\.place)
  }

  /// By how much points lie later than those before them.
  private static func distance(_ before: [Point], _ after: [Point]) -> Double {
    let (left, right) = (before.suffix(jumpPoints), after.prefix(jumpPoints))
    let slope = Line.slope(sharedBy: [Array(left), Array(right)])
    let time = (before[before.count - 1].time + after[0].time) / 2
    return Line(Array(right), slope: slope).value(at: time)
      - Line(Array(left), slope: slope).value(at: time)
  }

  /// The reference's time at a time of the recording.
  package func reference(at time: Double) -> Double {
    Self.value(at: time, knots, \.recording, \.reference)
  }

  /// The recording's time at a time of the reference.
  package func recording(at time: Double) -> Double {
    Self.value(at: time, knots, \.reference, \.recording)
  }

  private static func value(
    at time: Double, _ knots: [Knot], _ from: KeyPath<Knot, Double>, _ to: KeyPath<Knot, Double>
  ) -> Double {
    var (low, high) = (0, knots.count - 1)
    while high - low > 1 {
      let middle = (low + high) / 2
      if knots[middle][keyPath: from] <= time { low = middle } else { high = middle }
    }
    let (a, b) = (knots[low], knots[high])
    let share = (time - a[keyPath: from]) / (b[keyPath: from] - a[keyPath: from])
    return a[keyPath: to] + share * (b[keyPath: to] - a[keyPath: to])
  }

  /// The points that agree with their neighbours, four on each side, after the slope is taken out.
  private static func agreeing(_ points: [Point], _ slope: Double) -> [Point] {
    points.enumerated().filter { index, point in
      let near = points[max(0, index - 4)..<min(points.count, index + 5)]
      let lags = near.map { $0.lag - slope * ($0.time - point.time) }.sorted()
      return abs(lags[lags.count / 2] - point.lag) <= tolerance
    }.map(\.element)
  }

  /// A straight line through lags.
  private struct Line {
    private let centre: Double
    private let lag: Double
    let slope: Double

    /// By least squares; with this slope if it is not nil.
    init(_ points: [Point], slope: Double?) {
      let line = Line(points, at: points[0].time, reach: nil)
      (centre, lag, self.slope) = (line.centre, line.lag, slope ?? line.slope)
    }

    /// The slope of parallel lines through several lists of points, by least squares.
    static func slope(sharedBy parts: [[Point]]) -> Double {
      var (up, down) = (0.0, 0.0)
      for part in parts {
        let line = Line(part, at: part[0].time, reach: nil)
        for point in part {
          up += (point.time - line.centre) * (point.lag - line.lag)
          down += (point.time - line.centre) * (point.time - line.centre)
        }
      }
      return down > 0 ? up / down : 0
    }

    /// The root mean square of what points miss their own line by.
    static func miss(_ points: [Point]) -> Double {
      let line = Line(points, slope: nil)
      let squares = points.reduce(0) { sum, point in
        let miss = line.value(at: point.time) - point.lag
        return sum + miss * miss
      }
      return (squares / Double(points.count)).squareRoot()
    }

    /// By least squares, weighted by tricubes of the distance from `time`; evenly without a reach. The
    /// reach grows until there are eight points, or all.
    init(_ points: [Point], at time: Double, reach: Double?) {
      let distances = points.map { abs($0.time - time) }
      let eighth = distances.sorted()[min(7, points.count - 1)]
      let width = reach.map { max($0, 1.01 * eighth) }
      let weights = distances.map { distance in
        guard let width else { return 1.0 }
        let share = min(1, distance / width)
        let rest = 1 - share * share * share
        return rest * rest * rest
      }
      let total = weights.reduce(0, +)
      let centre = zip(points, weights).reduce(0) { $0 + $1.0.time * $1.1 } / total
      let lag = zip(points, weights).reduce(0) { $0 + $1.0.lag * $1.1 } / total
      var (up, down) = (0.0, 0.0)
      for (point, weight) in zip(points, weights) {
        up += weight * (point.time - centre) * (point.lag - lag)
        down += weight * (point.time - centre) * (point.time - centre)
      }
      (self.centre, self.lag, slope) = (centre, lag, down > 0 ? up / down : 0)
    }

    func value(at time: Double) -> Double { lag + slope * (time - centre) }
  }
}

extension ArraySlice<ClockMap.Point> {
  /// From the first to the last, in seconds.
  fileprivate var span: Double { (last?.time ?? 0) - (first?.time ?? 0) }
}

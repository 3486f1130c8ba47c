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

    package init(time: Double, lag: Double, quality: Double) {
      (self.time, self.lag, self.quality) = (time, lag, quality)
    }
  }

  /// A moment in both clocks, in seconds.
  package struct Knot: Hashable, Sendable {
    package let recording: Double
    package let reference: Double
  }

  /// In order; straight lines go through them, and beyond the first and last.
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
  ///   - rivalShare: as `RoughClock` has it.
  package init?(_ points: [Point], slope: Double, rivalShare: Double = 0) {
    let clear = points.filter { $0.quality >= Self.leastQuality }
    let good = Self.agreeing(clear, slope)
    guard good.count >= Self.leastPoints, let first = good.first, let last = good.last,
      Double(good.count) >= Self.leastShare * Double(clear.count)
    else { return nil }
    let whole = Line(good, at: first.time, reach: nil)
    let span = last.time - first.time
    let steps = max(1, Int(span / Self.spacing))
    var knots = (0...steps).map { step in
      let time = first.time + span * Double(step) / Double(steps)
      let line =
        span < 2 * Self.spacing ? whole : Line(good, at: time, reach: Self.reach)
      return Knot(recording: time, reference: time + line.value(at: time))
    }
    let steady = span < Self.leastSpan ? Line(lag: whole.value(at: first.time)) : whole
    if span < Self.leastSpan {
      knots = [first.time, last.time].map {
        Knot(recording: $0, reference: $0 + steady.value(at: $0))
      }
    }
    // Beyond the points, the whole's drift is the best guess.
    let end = knots[knots.count - 1]
    let beyond = 3600.0
    knots.insert(
      Knot(
        recording: knots[0].recording - beyond,
        reference: knots[0].reference - beyond * (1 + steady.slope)), at: 0)
    knots.append(
      Knot(
        recording: end.recording + beyond, reference: end.reference + beyond * (1 + steady.slope)))
    self.knots = knots
    drift = -steady.slope * 1e6
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

    /// A clock that does not drift.
    init(lag: Double) { (centre, self.lag, slope) = (0, lag, 0) }

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

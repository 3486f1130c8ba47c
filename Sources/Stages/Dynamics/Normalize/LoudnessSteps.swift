import Audio

/// The bookkeeping of a search: which gain to try next, and when that is good enough. A pure
/// value.
///
/// A secant search, held between the nearest gains that were too low and too high. It ends with a
/// gain that was tried, or so near to one that what it reaches is known.
struct LoudnessSteps: Codable, Hashable {
  /// Near enough, in LU.
  private static let tolerance = 0.03
  /// What a decibel of gain brings at first, in LU: the most where a limiter has a little to do, the
  /// least where it has much. Speech that misses 1.5…3 LU needs 2.4…2.9 dB for each of them.
  private static let usualSlope = (most: 0.88, least: 0.4, fallPerLU: 0.32)
  /// The more gain, the less another decibel brings: what a step of more than `nearby` decibels has
  /// measured is too much behind its end, by this factor.
  private static let bend = 0.75
  /// A step so short, in LU, that it ends near enough although the slope is only known roughly; one
  /// that was measured over at most `nearby` decibels carries further than the usual one.
  private static let sureStep = (usual: 0.08, measured: 0.2)
  private static let nearby = 2.0
  /// Where a decibel of gain brings less than so many LU, more of it buys only distortion.
  private static let hopelessSlope = 0.1
  /// Decibels beyond the gain that would do without a limiter; what is above sounds too compressed.
  private static let maximumExtra = 24.0
  private static let maximumTrials = 8

  private struct Trial: Codable, Hashable {
    let gain: Decibels
    let reached: LUFS
  }

  private let wanted: LUFS
  private let unlimited: Decibels
  private var trials = 0
  private var last: Trial?
  // The one that came nearest.
  private var best: Trial?
  // The nearest ones on both sides.
  private var tooLow: Trial?
  private var tooHigh: Trial?

  /// The gain to try next, or to take.
  private(set) var gain: Decibels
  /// What the gain reaches: measured or, behind a last short step, reckoned.
  private(set) var expected: LUFS
  /// Whether the search is over.
  private(set) var isSettled = false

  init(wanted: LUFS, unlimited: Decibels) {
    self.wanted = wanted
    self.unlimited = unlimited
    gain = unlimited
    expected = wanted
  }

  /// Takes up what the gain reached.
  mutating func take(_ reached: LUFS) {
    let trial = Trial(gain: gain, reached: reached)
    let missing = wanted.value - reached.value
    trials += 1
    if best.map({ abs(missing) < abs(wanted.value - $0.reached.value) }) ?? true { best = trial }
    if missing > 0 { tooLow = trial } else { tooHigh = trial }

    let measured = slope(to: trial)
    // Never flat: a limiter that gives nothing back any more would send the gain to infinity.
    let isNearby = last.map { abs($0.gain.value - gain.value) <= Self.nearby } ?? false
    let slope =
      measured.map { min(max($0 * (isNearby ? 1 : Self.bend), 0.05), 1) }
      ?? Self.usualSlope(missing: missing)
    let next = bounded(gain.value + missing / slope)
    let sure = isNearby ? Self.sureStep.measured : Self.sureStep.usual
    last = trial
    if abs(missing) <= Self.tolerance {
      settle(on: trial)
    } else if abs(missing) <= sure, next == gain.value + missing / slope {
      settle(on: Trial(gain: Decibels(next), reached: wanted))
    } else if next == gain.value || trials == Self.maximumTrials
      || missing > 0 && (measured ?? 1) < Self.hopelessSlope
    {
      settle(on: best ?? trial)
    } else {
      gain = Decibels(next)
    }
  }

  private static func usualSlope(missing: Double) -> Double {
    max(usualSlope.most - usualSlope.fallPerLU * abs(missing), usualSlope.least)
  }

  private mutating func settle(on trial: Trial) {
    gain = trial.gain
    expected = trial.reached
    isSettled = true
  }

  /// What a decibel has brought between the last trial and this one, in LU; nil for the first.
  private func slope(to trial: Trial) -> Double? {
    guard let last, last.gain != trial.gain else { return nil }
    return (trial.reached.value - last.reached.value) / (trial.gain.value - last.gain.value)
  }

  /// A gain that may be tried next: within the limits, and between those that are known to be too
  /// low and too high.
  private func bounded(_ gain: Double) -> Double {
    let limited = min(max(gain, unlimited.value), unlimited.value + Self.maximumExtra)
    guard let low = tooLow?.gain.value, let high = tooHigh?.gain.value, low < high else {
      return limited
    }
    return limited > low && limited < high ? limited : (low + high) / 2
  }
}

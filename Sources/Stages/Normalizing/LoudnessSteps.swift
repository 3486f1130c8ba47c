import AudioModel

/// The bookkeeping of a search: which gain to try next, and when that is good enough. A pure
/// value.
struct LoudnessSteps: Codable, Hashable {
  /// Near enough, in LU.
  private static let tolerance = 0.03
  /// What a decibel of gain brings at first, where a limiter has a little to do.
  private static let usualSlope = 0.88
  /// A step so short, in LU, that it ends near enough although the slope is only known roughly; a
  /// measured slope carries further than the usual one.
  private static let sureStep = (usual: 0.12, measured: 0.25)
  /// Beyond this, more gain buys only distortion.
  private static let maximumExtra = 12.0
  private static let maximumTrials = 5

  private let wanted: LUFS
  private let unlimited: Decibels
  private struct Trial: Codable, Hashable {
    let gain: Decibels
    let reached: LUFS
  }

  private var last: Trial?
  private var trials = 0

  /// The gain to try next, or to take.
  private(set) var gain: Decibels
  /// What the gain reaches, measured or, behind a last short step, reckoned.
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
    trials += 1
    expected = reached
    let missing = wanted.value - reached.value
    if abs(missing) <= Self.tolerance {
      isSettled = true
      return
    }
    var slope = Self.usualSlope
    if let last, last.gain != gain {
      // Never flat: a limiter that gives nothing back any more would send the gain to infinity.
      slope = (reached.value - last.reached.value) / (gain.value - last.gain.value)
      slope = min(max(slope, 0.05), 1)
    }
    let sure = last == nil ? Self.sureStep.usual : Self.sureStep.measured
    let most = unlimited.value + Self.maximumExtra
    let next = min(max(gain.value + missing / slope, unlimited.value), most)
    isSettled =
      abs(missing) <= sure || next == most || next == gain.value || trials == Self.maximumTrials
    last = Trial(gain: gain, reached: reached)
    expected = LUFS(reached.value + (next - gain.value) * slope)
    gain = Decibels(next)
  }
}

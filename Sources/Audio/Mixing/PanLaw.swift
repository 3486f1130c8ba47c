import Glibc

/// Pan laws for a mono track in a stereo mix, named after their gain in the middle. Panned hard to
/// one side, all laws have unity gain on that side.
package enum PanLaw: String, Sendable, CaseIterable {
  /// Both sides at unity in the middle; only the far side falls.
  case flat = "0 dB"
  /// Constant power: sin² + cos² = 1.
  case constantPower = "-3 dB"
  /// The geometric mean of the adjacent laws.
  case compromise = "-4.5 dB"
  /// Constant amplitude: the mono sum does not change.
  case linear = "-6 dB"

  /// The gains for a mono track.
  /// - Parameter pan: −1 is left, 0 the middle, +1 right; clamped.
  package func gains(pan: Double) -> StereoGains {
    let right = (min(max(pan, -1), 1) + 1) / 2
    let left = 1 - right
    return switch self {
    case .flat: PanLaw.balance(pan)
    case .constantPower: StereoGains(left: sin(left * .pi / 2), right: sin(right * .pi / 2))
    case .compromise:
      StereoGains(
        left: (left * sin(left * .pi / 2)).squareRoot(),
        right: (right * sin(right * .pi / 2)).squareRoot())
    case .linear: StereoGains(left: left, right: right)
    }
  }

  /// The balance of a stereo track: the side that `pan` points to stays, the other falls linearly,
  /// for any law.
  package static func balance(_ pan: Double) -> StereoGains {
    let pan = min(max(pan, -1), 1)
    return StereoGains(left: min(1, 1 - pan), right: min(1, 1 + pan))
  }
}

/// Amplitude ratios for the two sides of a stereo mix.
package struct StereoGains: Hashable, Sendable {
  package let left: Double
  package let right: Double

  package init(left: Double, right: Double) {
    self.left = left
    self.right = right
  }
}

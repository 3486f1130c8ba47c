import Glibc

/// How loud a mono track stays on its way from one side of a stereo mix to the other: each law is
/// called after its gain in the middle, and hard to a side all of them leave that side as it is.
public enum PanLaw: String, Sendable, CaseIterable {
  /// Both sides at full level in the middle; only the side that is left behind falls.
  case flat = "0 dB"
  /// The sum of both powers stays: sin² + cos² = 1.
  case constantPower = "-3 dB"
  /// The geometric mean of the laws beside it.
  case compromise = "-4.5 dB"
  /// The sum of both amplitudes stays: nothing changes where the mix is heard in mono.
  case linear = "-6 dB"

  /// The gains for a mono track.
  /// - Parameter pan: −1 is left, 0 the middle, +1 right; taken within these limits.
  public func gains(pan: Double) -> StereoGains {
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

  /// The gains for the two channels of a stereo track: the side that `pan` points to stays, the
  /// other falls in proportion, whatever the law.
  public static func balance(_ pan: Double) -> StereoGains {
    let pan = min(max(pan, -1), 1)
    return StereoGains(left: min(1, 1 - pan), right: min(1, 1 + pan))
  }
}

/// Amplitude ratios for the two sides of a stereo mix.
public struct StereoGains: Hashable, Sendable {
  /// For the left side.
  public let left: Double
  /// For the right side.
  public let right: Double

  /// Wraps two ratios.
  public init(left: Double, right: Double) {
    self.left = left
    self.right = right
  }
}

import Glibc

/// How the gain of a fade goes from nothing to one.
public enum FadeCurve: String, Hashable, Sendable, Codable, CaseIterable {
  /// In a straight line.
  case linear
  /// Half a cosine: it begins and ends gently, (1 − cos πx) / 2.
  case sCurve = "s-curve"
  /// In a straight line of decibels, from −100 dB.
  case exponential
  /// A quarter of a sine: crossing fades of unlike sounds keep their power, sin(πx / 2).
  case equalPower = "equal-power"

  /// The gain as an amplitude ratio; exactly 0 at the beginning and 1 at the end.
  /// - Parameter place: how much of the fade is over, taken within 0…1.
  public func gain(at place: Double) -> Double {
    guard place > 0 else { return 0 }
    guard place < 1 else { return 1 }
    return switch self {
    case .linear: place
    case .sCurve: (1 - cos(.pi * place)) / 2
    case .exponential: pow(10, -5 * (1 - place))
    case .equalPower: sin(.pi / 2 * place)
    }
  }
}

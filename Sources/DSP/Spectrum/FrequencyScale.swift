public import AudioModel
import Glibc

/// How frequencies are laid out from the bottom of a picture to its top.
public enum FrequencyScale: String, Hashable, Sendable, CaseIterable {
  /// Equal distances are equally far apart for the ear: mel, 2595 · log₁₀(1 + f / 700 Hz)
  /// (O'Shaughnessy 1987).
  case mel
  /// Equal distances are equal differences in hertz.
  case linear
  /// Equal distances are equal intervals, from 30 Hz on.
  case log

  /// Where a logarithmic scale begins.
  private static let bottom = 30.0

  /// How far up a frequency lies, from 0 at the bottom to 1 at `top`.
  public func height(of frequency: Hertz, top: Hertz) -> Double {
    (warped(frequency.value) - warped(0)) / (warped(top.value) - warped(0))
  }

  /// The frequency that lies so far up.
  public func frequency(at height: Double, top: Hertz) -> Hertz {
    let warped = warped(0) + height * (warped(top.value) - warped(0))
    return switch self {
    case .mel: Hertz(700 * (pow(10, warped / 2595) - 1))
    case .linear: Hertz(warped)
    case .log: Hertz(exp2(warped))
    }
  }

  private func warped(_ frequency: Double) -> Double {
    switch self {
    case .mel: 2595 * log10(1 + frequency / 700)
    case .linear: frequency
    case .log: log2(max(frequency, Self.bottom))
    }
  }
}

import Glibc

/// Standard downmixes, and the pan of mono to stereo, as matrices of amplitude ratios for
/// `ChannelMatrix`.
///
/// Channels are in the order of libav and WAV files: left, right, centre, low frequencies, then
/// back and side channels.
package enum Downmix {
  /// Stereo from any channel count, after ITU-R BS.775-4, annex 4: centre and surrounds at −3 dB,
  /// without low frequencies. Mono goes to both; channels beyond the eighth, or of an unknown
  /// layout, go alternately to left and right.
  package static func stereo(from channelCount: Int) -> [[Double]] {
    let side = 0.5.squareRoot()
    let rows: ([Double], [Double]) =
      switch channelCount {
      case 1: ([1], [1])
      case 2: ([1, 0], [0, 1])
      case 3: ([1, 0, side], [0, 1, side])
      case 4: ([1, 0, side, 0], [0, 1, 0, side])
      case 5: ([1, 0, side, side, 0], [0, 1, side, 0, side])
      case 6: ([1, 0, side, 0, side, 0], [0, 1, side, 0, 0, side])
      case 7: ([1, 0, side, 0, 0.5, side, 0], [0, 1, side, 0, 0.5, 0, side])
      case 8: ([1, 0, side, 0, side, 0, side, 0], [0, 1, side, 0, 0, side, 0, side])
      default:
        (
          (0..<channelCount).map { $0 % 2 == 0 ? 1 : 0 },
          (0..<channelCount).map { $0 % 2 == 1 ? 1 : 0 }
        )
      }
    return [rows.0, rows.1]
  }

  /// Mono: left and right of `stereo`, each with the law's middle gain. A single channel stays as
  /// it is; more than eight are averaged.
  package static func mono(from channelCount: Int, law: PanLaw) -> [[Double]] {
    guard channelCount > 1 else { return [[1]] }
    guard channelCount <= 8 else {
      return [Array(repeating: 1 / Double(channelCount), count: channelCount)]
    }
    let rows = stereo(from: channelCount)
    return [zip(rows[0], rows[1]).map { law.middle * ($0 + $1) }]
  }

  /// A mono source placed between left and right.
  /// - Parameter place: −1 for left, 0 for the middle, 1 for right; clamped.
  package static func panned(to place: Double, law: PanLaw) -> [[Double]] {
    let share = (min(max(place, -1), 1) + 1) / 2
    return share == 0.5
      ? [[law.middle], [law.middle]] : [[law.gain(1 - share)], [law.gain(share)]]
  }
}

/// The pan laws, named after the gain of a source in the middle. Panned hard to one side, all have
/// unity gain on that side.
package enum PanLaw: String, Hashable, Sendable, Codable, CaseIterable {
  /// No attenuation: both sides at unity in the middle; only the far side falls.
  case flat = "0 dB"
  /// Constant power, sin² + cos² = 1: for uncorrelated channels.
  case constantPower = "-3 dB"
  /// The geometric mean of the adjacent laws.
  case compromise = "-4.5 dB"
  /// Constant amplitude, for correlated channels: the mono sum does not change.
  case linear = "-6 dB"

  /// The exact gain in the middle, which a sine misses by a rounding error.
  package var middle: Double {
    switch self {
    case .flat: 1
    case .constantPower: 0.5.squareRoot()
    case .compromise: (0.5 * 0.5.squareRoot()).squareRoot()
    case .linear: 0.5
    }
  }

  /// The gain of the channel that a source is `share` of the way to, 0…1.
  func gain(_ share: Double) -> Double {
    switch self {
    case .flat: min(1, 2 * share)
    case .constantPower: sin(.pi / 2 * share)
    case .compromise: (share * sin(.pi / 2 * share)).squareRoot()
    case .linear: share
    }
  }

  /// The gains, as amplitude ratios, for a mono track in a stereo mix.
  /// - Parameter pan: −1 is left, 0 the middle, +1 right; clamped.
  package func gains(pan: Double) -> (left: Double, right: Double) {
    if self == .flat { return PanLaw.balance(pan) }
    let right = (min(max(pan, -1), 1) + 1) / 2
    return (left: gain(1 - right), right: gain(right))
  }

  /// The balance of a stereo track: the side that `pan` points to stays, the other falls linearly,
  /// for any law.
  package static func balance(_ pan: Double) -> (left: Double, right: Double) {
    let pan = min(max(pan, -1), 1)
    return (left: min(1, 1 - pan), right: min(1, 1 + pan))
  }
}

import Glibc

/// Standard downmixes, and the pan of mono to stereo, as matrices of amplitude ratios for
/// `ChannelMatrix`.
///
/// Channels are in the order of libav and WAV files: left, right, centre, low frequencies, then
/// back and side channels.
package enum Downmix {
  /// The pan law: the gain of a source in the middle.
  package enum PanLaw: String, Hashable, Sendable, Codable, CaseIterable {
    /// No attenuation.
    case none = "0 dB"
    /// Constant power, 1/√2: for uncorrelated channels.
    case power = "-3 dB"
    /// Between the two others, 2^(−3/4).
    case compromise = "-4.5 dB"
    /// Constant amplitude, 1/2: for correlated channels; their mean.
    case amplitude = "-6 dB"

    package var middle: Double { gain(0.5) }

    /// The gain of the channel that a source is `share` of the way to, 0…1.
    func gain(_ share: Double) -> Double {
      switch self {
      case .none: min(1, 2 * share)
      case .power: share == 0.5 ? 0.5.squareRoot() : sin(.pi / 2 * share)
      case .compromise: (share * PanLaw.power.gain(share)).squareRoot()
      case .amplitude: share
      }
    }
  }

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
    return [[law.gain(1 - share)], [law.gain(share)]]
  }
}

import Glibc

/// The usual ways from some channels to fewer, and from one to two, as matrices of amplitude ratios
/// for `ChannelMatrix`.
///
/// Channels are in the order of libav and WAV files: left, right, centre, low frequencies, then
/// those at the back and the sides.
public enum Downmix {
  /// How much two channels that carry the same sound are turned down so that they sound as loud
  /// as one: by the amplitude ratio of a source in the middle.
  public enum PanLaw: String, Hashable, Sendable, Codable, CaseIterable {
    /// Not at all.
    case none = "0 dB"
    /// Equal power, 1/√2: right where the two are unlike.
    case power = "-3 dB"
    /// Between the two others, 2^(−3/4).
    case compromise = "-4.5 dB"
    /// Equal amplitude, 1/2: right where the two are alike; their mean.
    case amplitude = "-6 dB"

    /// The gain in the middle, as an amplitude ratio.
    public var middle: Double { gain(0.5) }

    /// The gain of the channel that a source is `share` of the way to, from 0 to 1.
    func gain(_ share: Double) -> Double {
      switch self {
      case .none: min(1, 2 * share)
      case .power: share == 0.5 ? 0.5.squareRoot() : sin(.pi / 2 * share)
      case .compromise: (share * PanLaw.power.gain(share)).squareRoot()
      case .amplitude: share
      }
    }
  }

  /// Two channels from any number, after ITU-R BS.775-4, annex 4: centre and surrounds at −3 dB,
  /// low frequencies left out. One channel goes to both; channels beyond the eighth, or of a
  /// count without a usual layout, go to left and right in turn.
  public static func stereo(from channelCount: Int) -> [[Double]] {
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

  /// One channel: left and right of `stereo`, each with the law's gain in the middle. A single
  /// channel stays as it is; of more than eight, the mean.
  public static func mono(from channelCount: Int, law: PanLaw) -> [[Double]] {
    guard channelCount > 1 else { return [[1]] }
    guard channelCount <= 8 else {
      return [Array(repeating: 1 / Double(channelCount), count: channelCount)]
    }
    let rows = stereo(from: channelCount)
    return [zip(rows[0], rows[1]).map { law.middle * ($0 + $1) }]
  }

  /// One channel placed between left and right.
  /// - Parameter place: −1 for left, 0 for the middle, 1 for right; taken within these.
  public static func panned(to place: Double, law: PanLaw) -> [[Double]] {
    let share = (min(max(place, -1), 1) + 1) / 2
    return [[law.gain(1 - share)], [law.gain(share)]]
  }
}

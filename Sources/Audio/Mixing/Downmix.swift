import Glibc

/// Standard downmixes, and the pan of mono to stereo, as matrices of amplitude ratios for
/// `ChannelMatrix`.
///
/// Channels are where their positions say; without positions each has an equal share.
package enum Downmix {
  /// Stereo from any channels, after ITU-R BS.775-4, annex 4: centre and surrounds at −3 dB, without
  /// low frequencies. A single channel goes to both; channels without positions go alternately to
  /// left and right.
  package static func stereo(from format: AudioFormat) -> [[Double]] {
    let side = 0.5.squareRoot()
    guard format.channelCount > 1 else { return [[1], [1]] }
    let positions = format.positions.channels
    let pairs = (0..<format.channelCount).map { (channel) -> (Double, Double) in
      guard positions.indices.contains(channel) else { return channel % 2 == 0 ? (1, 0) : (0, 1) }
      return switch positions[channel] {
      case .frontLeft, .frontLeftOfCentre: (1, 0)
      case .frontRight, .frontRightOfCentre: (0, 1)
      case .frontCentre: (side, side)
      case .lowFrequency, .lowFrequency2: (0, 0)
      case .backLeft, .sideLeft: (side, 0)
      case .backRight, .sideRight: (0, side)
      default: (0.5, 0.5)
      }
    }
    return [pairs.map(\.0), pairs.map(\.1)]
  }

  /// Mono: left and right of `stereo`, each with the law's middle gain. A single channel stays as
  /// it is; channels without positions are averaged.
  package static func mono(from format: AudioFormat, law: PanLaw) -> [[Double]] {
    let count = format.channelCount
    guard count > 1 else { return [[1]] }
    guard !format.positions.isEmpty else {
      return [Array(repeating: 1 / Double(count), count: count)]
    }
    let rows = stereo(from: format)
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

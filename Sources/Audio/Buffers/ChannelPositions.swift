/// The loudspeakers that the channels of a stream are for, as the bits of WAV's channel mask, which
/// libavutil extends. The channels come in the order of the bits.
///
/// Empty means that no positions are known: each channel is a track of its own.
package struct ChannelPositions: OptionSet, Hashable, Sendable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package static let unknown: Self = []
  package static let frontLeft = Self(rawValue: 1 << 0)
  package static let frontRight = Self(rawValue: 1 << 1)
  package static let frontCentre = Self(rawValue: 1 << 2)
  package static let lowFrequency = Self(rawValue: 1 << 3)
  package static let backLeft = Self(rawValue: 1 << 4)
  package static let backRight = Self(rawValue: 1 << 5)
  package static let frontLeftOfCentre = Self(rawValue: 1 << 6)
  package static let frontRightOfCentre = Self(rawValue: 1 << 7)
  package static let backCentre = Self(rawValue: 1 << 8)
  package static let sideLeft = Self(rawValue: 1 << 9)
  package static let sideRight = Self(rawValue: 1 << 10)
  package static let lowFrequency2 = Self(rawValue: 1 << 35)

  package static let mono: Self = .frontCentre
  package static let stereo: Self = [.frontLeft, .frontRight]
  package static let quad = Self(rawValue: 0x33)
  package static let surround51 = Self(rawValue: 0x3F)

  /// Masks of more bits do not fit in the header of kept sound.
  static let mostBits = 48

  /// What a stream has that says nothing: one channel is mono, two are stereo, and more are tracks
  /// without positions.
  package static func assumed(of channelCount: Int) -> Self {
    switch channelCount {
    case 1: .mono
    case 2: .stereo
    default: .unknown
    }
  }

  /// Those of a number of channels in a table by that number; nil beyond its end.
  package init?(of channelCount: Int, in masks: [UInt64]) {
    guard masks.indices.contains(channelCount) else { return nil }
    self.init(rawValue: masks[channelCount])
  }

  /// The loudspeakers that sound is mixed to by their number alone; unknown for more than eight.
  package static func mixed(to channelCount: Int) -> Self {
    Self(of: channelCount, in: [0, 0x4, 0x3, 0x7, 0x33, 0x37, 0x3F, 0x70F, 0x63F]) ?? .unknown
  }

  /// Positions for tracks that have none, where a format or a mixer requires some: none is for low
  /// frequencies alone. Unknown for more than eight channels.
  package static func substitute(for channelCount: Int) -> Self {
    Self(of: channelCount, in: [0, 0x4, 0x3, 0x7, 0x107, 0x37, 0x137, 0x637, 0x737]) ?? .unknown
  }

  /// The position of each channel; empty if they are unknown.
  package var channels: [Self] {
    (0..<UInt64.bitWidth).map { Self(rawValue: 1 << UInt64($0)) }.filter(contains)
  }

  /// The channels for low frequencies alone, from 0.
  package var lowFrequencyChannels: [Int] {
    channels.indices.filter { channels[$0].isLowFrequency }
  }

  var isLowFrequency: Bool { self == .lowFrequency || self == .lowFrequency2 }

  /// With left and right surrounds at the back instead of at the side, where only one pair is there:
  /// formats do not distinguish them.
  package var withBackSurrounds: Self {
    let (sides, backs): (Self, Self) = ([.sideLeft, .sideRight], [.backLeft, .backRight])
    guard isSuperset(of: sides), isDisjoint(with: backs.union(.backCentre)) else { return self }
    return subtracting(sides).union(backs)
  }
}

extension ChannelPositions: CustomStringConvertible {
  /// For users, such as `FL FR FC LFE`.
  package var description: String {
    guard !isEmpty else { return "no positions" }
    let names = [
      "FL", "FR", "FC", "LFE", "BL", "BR", "FLC", "FRC", "BC", "SL", "SR", "TC", "TFL", "TFC",
      "TFR", "TBL", "TBC", "TBR",
    ]
    return (0..<UInt64.bitWidth).filter { contains(Self(rawValue: 1 << UInt64($0))) }
      .map { $0 < names.count ? names[$0] : $0 == 35 ? "LFE2" : "speaker \($0)" }
      .joined(separator: " ")
  }
}

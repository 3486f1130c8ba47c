package import Audio

extension ExportSpec {
  /// The positions that a file gives the channels of sound of this format.
  ///
  /// WAV and FLAC keep any, and none. Opus keeps those of Vorbis, else none. Other formats have fixed
  /// ones for each number of channels. AAC has more, of which channels without positions get some
  /// without a channel for low frequencies.
  func positions(of source: AudioFormat) -> ChannelPositions {
    let (own, count) = (source.positions, source.channelCount)
    switch self {
    case .wav, .flac: return own
    case .mp3: return .assumed(of: count)
    case .alac: return Self.alacPositions(of: count) ?? own
    case .opus:
      let known = Self.vorbisPositions(of: count) ?? .unknown
      return own.withBackSurrounds == known ? known : .assumed(of: count)
    case .vorbis: return Self.vorbisPositions(of: count) ?? .unknown
    case .aac:
      if count <= 2 { return .assumed(of: count) }
      let fitting = own.withBackSurrounds
      if Self.aacMasks.contains(fitting.rawValue) { return fitting }
      let hasLow = !own.lowFrequencyChannels.isEmpty
      return hasLow ? fitting : .substitute(for: count)
    }
  }

  /// The channels of this format that a file would hold as channels for low frequencies alone, which
  /// encoders and players cut or leave out, though they are not; from 0.
  package func channelsTakenForLow(of source: AudioFormat) -> [Int] {
    let own = source.positions.lowFrequencyChannels
    return positions(of: source).lowFrequencyChannels.filter { !own.contains($0) }
  }

  /// What a file says of the channels in place of what is known of them; nil if that is the same.
  package func strangePositions(of source: AudioFormat) -> ChannelPositions? {
    let written = positions(of: source)
    return written.withBackSurrounds == source.positions.withBackSurrounds ? nil : written
  }

  /// Those of Vorbis and of family 1 of Opus (Vorbis I, section 4.3.9); nil for more channels.
  private static func vorbisPositions(of count: Int) -> ChannelPositions? {
    (1...8).contains(count) ? .mixed(to: count) : nil
  }

  /// Those of Apple Lossless (ALACAudioTypes.h, ALACChannelLayoutTag); nil for more channels.
  private static func alacPositions(of count: Int) -> ChannelPositions? {
    ChannelPositions(of: count, in: [0, 0x4, 0x3, 0x7, 0x107, 0x37, 0x3F, 0x13F, 0xFF])
  }

  /// Those of libavcodec's AAC encoder for more than two channels.
  private static let aacMasks: Set<UInt64> = [
    0x7, 0xB, 0x103, 0xF, 0x107, 0x10F, 0x33, 0x603, 0x37, 0x3F, 0x707, 0x6C3, 0x137, 0x70F,
    0x13F, 0x6CB, 0x637, 0x6C7, 0x63F, 0xFF, 0x6CF, 0x737,
  ]
}

/// What a stream of sound is made of: how many channels, at which rate. Samples are always
/// 32-bit floats, full scale ±1.
public struct AudioFormat: Hashable, Sendable, Codable {
  /// Frames a second; 1 to 768,000 Hz.
  public let sampleRate: Hertz
  /// Channels in a frame; 1 to `mostChannels`.
  public let channelCount: Int
  /// The most channels that sound has.
  public static let mostChannels = 64

  /// Describes a stream.
  public init(sampleRate: Hertz, channelCount: Int) {
    self.sampleRate = sampleRate
    self.channelCount = channelCount
  }
}

extension AudioFormat: CustomStringConvertible {
  /// For people: `48 kHz stereo`.
  public var description: String {
    let kilohertz = sampleRate.value / 1000
    let rate =
      kilohertz == kilohertz.rounded() ? "\(Int(kilohertz))" : "\(kilohertz)"
    let channels =
      switch channelCount {
      case 1: "mono"
      case 2: "stereo"
      default: "\(channelCount) channels"
      }
    return "\(rate) kHz \(channels)"
  }
}

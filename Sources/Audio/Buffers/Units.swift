import Glibc

/// A number of sample frames: one sample for every channel at one instant.
package struct Frames: Hashable, Comparable, Sendable, Codable, BitwiseCopyable {
  /// Negative only as a difference.
  package var count: Int

  package init(_ count: Int) { self.count = count }

  package init(from decoder: any Decoder) throws {
    count = try decoder.singleValueContainer().decode(Int.self)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(count)
  }

  package static func < (a: Frames, b: Frames) -> Bool { a.count < b.count }
  package static func + (a: Frames, b: Frames) -> Frames { Frames(a.count + b.count) }
  package static func - (a: Frames, b: Frames) -> Frames { Frames(a.count - b.count) }
  package static func += (a: inout Frames, b: Frames) { a.count += b.count }

  package static var zero: Frames { Frames(0) }

  /// The duration at `sampleRate`, in seconds.
  package func duration(at sampleRate: Hertz) -> Seconds {
    Seconds(Double(count) / sampleRate.value)
  }
}

/// A quantity in a fixed unit, coded as a bare number.
package protocol ScalarUnit: Hashable, Comparable, Sendable, Codable {
  /// The number, in the type's unit.
  var value: Double { get set }
  init(_ value: Double)
}

extension ScalarUnit {
  package static func < (a: Self, b: Self) -> Bool { a.value < b.value }

  package init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(Double.self))
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

/// A level or a gain in decibels; as an amplitude ratio, 20 · log₁₀.
package struct Decibels: ScalarUnit {
  package var value: Double
  package init(_ value: Double) { self.value = value }
  /// The level of an amplitude ratio; −∞ for zero.
  package init(amplitude: Double) {
    value = amplitude > 0 ? 20 * log10(amplitude) : -.infinity
  }
  /// The amplitude ratio, 10^(dB / 20).
  package var amplitude: Double { pow(10, value / 20) }

  /// For messages, the level in decibels to a tenth, or as much finer as it takes to show that it lies
  /// over a limit.
  package func rounded(toShowBeyond limit: Decibels) -> Double {
    var scale = 10.0
    while self > limit, (value * scale).rounded() / scale <= limit.value, scale < 1e9 {
      scale *= 10
    }
    return (value * scale).rounded() / scale
  }
}

/// A frequency or a rate in hertz.
package struct Hertz: ScalarUnit {
  package var value: Double
  package init(_ value: Double) { self.value = value }
}

/// A span of time in seconds.
package struct Seconds: ScalarUnit {
  package var value: Double
  package init(_ value: Double) { self.value = value }
  /// The nearest whole number of frames at `sampleRate`.
  package func frames(at sampleRate: Hertz) -> Frames {
    Frames(Int((value * sampleRate.value).rounded()))
  }
}

/// The sample rate, channel count and channel positions of a stream. Samples are always 32-bit
/// floats, full scale ±1.
package struct AudioFormat: Hashable, Sendable, Codable {
  package let sampleRate: Hertz
  /// Channels in a frame; 1 to `mostChannels`.
  package let channelCount: Int
  /// The greatest supported channel count.
  package static let mostChannels = 64
  /// Nil for `ChannelPositions.assumed(of:)`, so that records without positions can be read.
  private let channelMask: UInt64?

  /// - Parameter positions: those of another number of channels count as unknown, and nil or unknown
  ///   ones as `ChannelPositions.assumed(of:)`.
  package init(sampleRate: Hertz, channelCount: Int, positions: ChannelPositions? = nil) {
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    let mask = positions?.rawValue ?? 0
    let isKept =
      mask.nonzeroBitCount == channelCount && mask >> ChannelPositions.mostBits == 0
      && mask != ChannelPositions.assumed(of: channelCount).rawValue
    channelMask = isKept ? mask : nil
  }

  /// Where the channels belong.
  package var positions: ChannelPositions {
    channelMask.map(ChannelPositions.init(rawValue:)) ?? .assumed(of: channelCount)
  }

  /// The format at another rate.
  package func at(_ sampleRate: Hertz) -> AudioFormat {
    AudioFormat(sampleRate: sampleRate, channelCount: channelCount, positions: positions)
  }

  /// Whether the rate and the number of channels are the same.
  package func hasShape(of other: AudioFormat) -> Bool {
    sampleRate == other.sampleRate && channelCount == other.channelCount
  }
}

extension AudioFormat: CustomStringConvertible {
  /// For users: `48 kHz stereo`.
  package var description: String {
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

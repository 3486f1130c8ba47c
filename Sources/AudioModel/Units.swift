import Glibc

/// A count of sample frames: one sample for every channel at one instant.
public struct Frames: Hashable, Comparable, Sendable, Codable {
  /// The number of frames; negative only as a difference.
  public var count: Int

  /// Wraps a count of frames.
  public init(_ count: Int) { self.count = count }

  /// Reads a bare integer.
  public init(from decoder: any Decoder) throws {
    count = try decoder.singleValueContainer().decode(Int.self)
  }

  /// Writes a bare integer.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(count)
  }

  /// Earlier than.
  public static func < (a: Frames, b: Frames) -> Bool { a.count < b.count }
  /// The sum of two spans of frames.
  public static func + (a: Frames, b: Frames) -> Frames { Frames(a.count + b.count) }
  /// The difference of two spans of frames.
  public static func - (a: Frames, b: Frames) -> Frames { Frames(a.count - b.count) }
  /// Moves forward in place.
  public static func += (a: inout Frames, b: Frames) { a.count += b.count }

  /// No frames at all.
  public static var zero: Frames { Frames(0) }

  /// How long these frames last at `sampleRate`, in seconds.
  public func duration(at sampleRate: Hertz) -> Seconds {
    Seconds(Double(count) / sampleRate.value)
  }
}

/// A quantity that is one plain number in a known unit, and is written as that bare number.
public protocol ScalarUnit: Hashable, Comparable, Sendable, Codable {
  /// The number, in the type's own unit.
  var value: Double { get set }
  /// Wraps a number in the type's own unit.
  init(_ value: Double)
}

extension ScalarUnit {
  /// Smaller than.
  public static func < (a: Self, b: Self) -> Bool { a.value < b.value }

  /// Reads a bare number.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(Double.self))
  }

  /// Writes a bare number.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

/// A level or a gain in decibels; as an amplitude ratio, 20 · log₁₀.
public struct Decibels: ScalarUnit {
  /// The level in dB.
  public var value: Double
  /// Wraps a level in dB.
  public init(_ value: Double) { self.value = value }
  /// The level of an amplitude ratio; −∞ for zero.
  public init(amplitude: Double) {
    value = amplitude > 0 ? 20 * log10(amplitude) : -.infinity
  }
  /// The amplitude ratio, 10^(dB / 20).
  public var amplitude: Double { pow(10, value / 20) }
}

/// A frequency or a rate in hertz.
public struct Hertz: ScalarUnit {
  /// The frequency in Hz.
  public var value: Double
  /// Wraps a frequency in Hz.
  public init(_ value: Double) { self.value = value }
}

/// A span of time in seconds.
public struct Seconds: ScalarUnit {
  /// The time in seconds.
  public var value: Double
  /// Wraps a time in seconds.
  public init(_ value: Double) { self.value = value }
  /// The nearest whole number of frames at `sampleRate`.
  public func frames(at sampleRate: Hertz) -> Frames {
    Frames(Int((value * sampleRate.value).rounded()))
  }
}

/// A loudness in LUFS, as defined by ITU-R BS.1770-4.
public struct LUFS: ScalarUnit {
  /// The loudness in LUFS; −∞ for silence.
  public var value: Double
  /// Wraps a loudness in LUFS.
  public init(_ value: Double) { self.value = value }
}

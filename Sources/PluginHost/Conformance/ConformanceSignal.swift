import Glibc

/// Sound that plugins are tried with, as interleaved samples: the same each time.
struct ConformanceSignal {
  let channels: Int
  let rate: Double
  /// Interleaved.
  private(set) var samples: [Float]

  /// Frames of it.
  var count: Int { samples.count / channels }

  private init(_ frames: Int, channels: Int, rate: Double, _ value: (Int, Int) -> Float) {
    self.channels = channels
    self.rate = rate
    samples = []
    samples.reserveCapacity(frames * channels)
    for frame in 0..<frames {
      for channel in 0..<channels { samples.append(value(frame, channel)) }
    }
  }

  /// Nothing to hear.
  static func silence(_ frames: Int, channels: Int = 2, rate: Double = 48_000) -> Self {
    Self(frames, channels: channels, rate: rate) { _, _ in 0 }
  }

  /// A tone under noise that swells and fades, other in each channel.
  static func program(_ frames: Int, channels: Int = 2, rate: Double = 48_000) -> Self {
    var noise = Noise()
    return Self(frames, channels: channels, rate: rate) { frame, channel in
      let time = Double(frame) / rate
      let swell = 0.55 + 0.45 * sin(2 * .pi * 3 * time)
      let tone = 0.4 * sin(2 * .pi * Double(220 * (channel + 1)) * time)
      return Float(swell * (tone + 0.2 * noise.next()))
    }
  }

  /// Noise of one loudness.
  static func noise(_ frames: Int, channels: Int = 1, rate: Double = 48_000) -> Self {
    var noise = Noise()
    return Self(frames, channels: channels, rate: rate) { _, _ in Float(0.25 * noise.next()) }
  }

  /// What decoders can give at the worst: full scale and far beyond it, denormal numbers, jumps.
  static func extremes(_ frames: Int, channels: Int = 2, rate: Double = 48_000) -> Self {
    let values: [Float] = [
      1, -1, 0, 0x1p-140, -0x1p-140, .leastNonzeroMagnitude, 0.999_999_94, 100, -100, 0, 1e-30, 1,
    ]
    return Self(frames, channels: channels, rate: rate) { frame, channel in
      // Long stretches of one value, then quick changes.
      values[(frame < frames / 2 ? frame / 64 : frame * 7 + channel) % values.count]
    }
  }

  /// The samples of some frames.
  func piece(_ range: Range<Int>) -> ArraySlice<Float> {
    samples[range.lowerBound * channels..<range.upperBound * channels]
  }

  /// A linear congruential generator, of Knuth's MMIX: -1…1.
  private struct Noise {
    private var state: UInt64 = 0x5EED
    mutating func next() -> Double {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Double(state >> 11) / Double(1 << 52) - 1
    }
  }
}

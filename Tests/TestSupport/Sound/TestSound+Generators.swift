package import Audio
import Glibc

extension TestSound {
  /// Nothing at all.
  package static func silence(_ format: AudioFormat, frames: Int) -> TestSound {
    constant(0, format, frames: frames)
  }

  /// The same value everywhere.
  package static func constant(_ value: Float, _ format: AudioFormat, frames: Int) -> TestSound {
    TestSound(format, frames: frames) { _, _ in value }
  }

  /// One sample of 1 at `frame`, zeros around it.
  package static func impulse(_ format: AudioFormat, frames: Int, at frame: Int = 0) -> TestSound {
    TestSound(format, frames: frames) { _, index in index == frame ? 1 : 0 }
  }

  /// A steady tone, the same in all channels. `phase` is in radians.
  package static func sine(
    _ frequency: Hertz, amplitude: Double = 1, phase: Double = 0, _ format: AudioFormat,
    frames: Int
  ) -> TestSound {
    let step = 2 * Double.pi * frequency.value / format.sampleRate.value
    let samples = (0..<frames).map { Float(amplitude * sin(phase + step * Double($0))) }
    return TestSound(
      sampleRate: format.sampleRate,
      channels: Array(repeating: samples, count: format.channelCount),
      positions: format.positions)
  }

  /// Alternating +1 and −1, each for `half` frames: every sample has the same magnitude.
  package static func square(
    half: Int, amplitude: Float = 1, _ format: AudioFormat, frames: Int
  ) -> TestSound {
    TestSound(format, frames: frames) { _, frame in
      frame / half % 2 == 0 ? amplitude : -amplitude
    }
  }

  /// White noise, evenly spread within ±`amplitude`, different in every channel.
  package static func noise(
    amplitude: Float = 1, seed: UInt64 = 1, _ format: AudioFormat, frames: Int
  ) -> TestSound {
    var random = SeededRandom(seed: seed)
    let channels = (0..<format.channelCount).map { _ in
      (0..<frames).map { _ in Float.random(in: -amplitude...amplitude, using: &random) }
    }
    return TestSound(sampleRate: format.sampleRate, channels: channels, positions: format.positions)
  }

  /// Something like speech: bursts of a gliding, rich tone over faint noise, with pauses between
  /// them and a different balance in every channel.
  package static func babble(
    amplitude: Double = 0.8, seed: UInt64 = 1, _ format: AudioFormat, frames: Int
  ) -> TestSound {
    var random = SeededRandom(seed: seed)
    let rate = format.sampleRate.value
    return TestSound(format, frames: frames) { channel, frame in
      let time = Double(frame) / rate
      let syllable = max(0, sin(2 * .pi * 3.1 * time + Double(channel) * 0.2) - 0.1)
      let pitch = 2 * .pi * (140 * time + 4 * sin(5 * time))
      var voice = 0.0
      for harmonic in 1...6 { voice += sin(pitch * Double(harmonic)) / Double(harmonic) }
      let hiss = Double.random(in: -0.01...0.01, using: &random)
      return Float(amplitude * (syllable * syllable * voice * 0.6 + hiss))
    }
  }
}

import Glibc

/// How much of a sound lies above what a telephone carries.
///
/// It is told by a high-pass filter of 63 taps, a windowed sinc with the edge at 5 kHz (Blackman
/// window: 74 dB less from 4.3 kHz down), at every fourth sample.
struct BandWidth {
  /// The mean of the squared samples.
  let power: Float
  /// Whether there is nothing above: less than two millionths of the power, where most recordings
  /// have some thousandths, old ones four millionths, and telephones half a millionth or less.
  let isNarrow: Bool

  private static let share: Float = 2e-6
  private static let edge: Float = 5000.0 / 16_000
  private static let half = 31
  private static let taps: [Float] = (-half...half).map { index in
    let place = Float(index)
    let angle = Float.pi * (place / Float(half + 1) + 1)
    let window = 0.42 - 0.5 * cosf(angle) + 0.08 * cosf(2 * angle)
    let low = index == 0 ? 2 * edge : sinf(2 * Float.pi * edge * place) / (Float.pi * place)
    return window * ((index == 0 ? 1 : 0) - low)
  }

  /// Looks at sound of 16 kHz.
  ///
  /// Complexity: O(*n*) in the number of samples.
  init(of sound: Span<Int16>) {
    var whole: Float = 0
    var above: Float = 0
    var count: Float = 0
    let taps = Self.taps
    for middle in stride(from: Self.half, to: sound.count - Self.half, by: 4) {
      var sum: Float = 0
      for tap in taps.indices { sum += taps[tap] * Float(sound[middle + tap - Self.half]) }
      above += sum * sum
      whole += Float(sound[middle]) * Float(sound[middle])
      count += 1
    }
    power = whole / max(1, count)
    isNarrow = above < Self.share * whole
  }
}

import Glibc

/// Faint noise under a piece of sound, as every recording by a microphone has it.
///
/// The model has heard rooms only: in the digital silence of synthesised or gated speech it begins
/// words late. Of six voices of espeak-ng, words are 11 instead of 14 ms off, and their bias falls
/// from 10 to 6 ms; recordings of rooms are not changed measurably. Of what a telephone carries the
/// upper bands are empty, and what little is in them tells the sounds apart in the model's eyes: there
/// the noise is louder, and of twelve voices on the telephone 96 instead of 93 % of the words are
/// within a tenth of a second.
enum SilenceFloor {
  /// Its peak, of 32768: 78 dB below full scale on average.
  private static let amplitude: Float = 8
  /// Its peak in narrow bands, as a share of the sound: 35 dB below it on average.
  private static let narrowShare: Float = 0.031

  /// The sound with the noise, which is the same for each piece (xorshift, Marsaglia 2003).
  ///
  /// Complexity: O(*n*) in the number of samples.
  static func under(_ sound: Span<Int16>) -> [Int16] {
    let band = band(of: sound)
    let narrow = band.isNarrow ? narrowShare * band.power.squareRoot() : 0
    let amplitude = UInt32(max(Self.amplitude, narrow))
    var state: UInt32 = 0x9E37_79B9
    var result: [Int16] = []
    result.reserveCapacity(sound.count)
    for index in sound.indices {
      state ^= state << 13
      state ^= state >> 17
      state ^= state << 5
      let noise = Int32(state % (2 * amplitude + 1)) - Int32(amplitude)
      result.append(Int16(clamping: Int32(sound[index]) + noise))
    }
    return result
  }
}

/// How much of a sound lies above what a telephone carries.
///
/// It is measured with a high-pass filter of 63 taps, a windowed sinc with the edge at 5 kHz
/// (Blackman window: 74 dB less from 4.3 kHz down), at every fourth sample.
extension SilenceFloor {
  /// The band is narrow where so much of the power lies above: most recordings have some thousandths,
  /// old ones four millionths, and telephones half a millionth or less.
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

  /// The mean of the squared samples of sound of 16 kHz, and whether its band is narrow.
  ///
  /// Complexity: O(*n*) in the number of samples.
  static func band(of sound: Span<Int16>) -> (power: Float, isNarrow: Bool) {
    var whole: Float = 0
    var above: Float = 0
    var count: Float = 0
    let taps = Self.taps
    for middle in stride(from: half, to: sound.count - half, by: 4) {
      var sum: Float = 0
      for tap in taps.indices { sum += taps[tap] * Float(sound[middle + tap - half]) }
      above += sum * sum
      whole += Float(sound[middle]) * Float(sound[middle])
      count += 1
    }
    return (whole / max(1, count), above < share * whole)
  }
}

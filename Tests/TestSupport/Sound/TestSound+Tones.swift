package import Audio
import Glibc

/// A steady tone as it is found in a sound.
package struct FoundTone: Sendable {
  /// Its amplitude.
  package let amplitude: Double
  /// Everything in the sound that is not the tone, by its power, relative to the tone: with a pure
  /// tone given, total harmonic distortion and noise.
  package let rest: Decibels
}

extension TestSound {
  /// Fits a steady tone of this frequency to one channel, by least squares. Linear in the length.
  package func tone(of frequency: Hertz, inChannel channel: Int = 0) -> FoundTone {
    let step = 2 * Double.pi * frequency.value / format.sampleRate.value
    let samples = channels[channel].map { Double($0) }
    var (cc, ss, cs, xc, xs) = (0.0, 0.0, 0.0, 0.0, 0.0)
    for (frame, sample) in samples.enumerated() {
      let (c, s) = (cos(step * Double(frame)), sin(step * Double(frame)))
      cc += c * c
      ss += s * s
      cs += c * s
      xc += sample * c
      xs += sample * s
    }
    let determinant = cc * ss - cs * cs
    let a = (xc * ss - xs * cs) / determinant
    let b = (xs * cc - xc * cs) / determinant
    var rest = 0.0
    for (frame, sample) in samples.enumerated() {
      let angle = step * Double(frame)
      let difference = sample - a * cos(angle) - b * sin(angle)
      rest += difference * difference
    }
    let power = (a * a + b * b) / 2 * Double(max(samples.count, 1))
    return FoundTone(
      amplitude: (a * a + b * b).squareRoot(),
      rest: Decibels(amplitude: (rest / power).squareRoot()))
  }
}

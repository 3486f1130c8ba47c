package import Audio
import Glibc

extension TestSound {
  /// Whether both sounds have the same bits in every sample: −0 is not 0, and NaN is itself.
  package func isBitIdentical(to other: TestSound) -> Bool { firstDifference(from: other) == nil }

  /// Where two sounds first differ in bits, in words; nil where they do not.
  package func firstDifference(from other: TestSound) -> String? {
    guard format == other.format else { return "\(format) is not \(other.format)" }
    guard frameCount == other.frameCount else {
      return "\(frameCount.count) frames are not \(other.frameCount.count)"
    }
    for (channel, (mine, others)) in zip(channels, other.channels).enumerated() {
      for (frame, (a, b)) in zip(mine, others).enumerated() where a.bitPattern != b.bitPattern {
        return "channel \(channel), frame \(frame): \(a) is not \(b)"
      }
    }
    return nil
  }

  /// The greatest difference between samples at the same place; infinite for unlike shapes.
  package func greatestDifference(from other: TestSound) -> Float {
    guard format == other.format, frameCount == other.frameCount else { return .infinity }
    return zip(channels, other.channels).reduce(0) { greatest, pair in
      zip(pair.0, pair.1).reduce(greatest) { max($0, ($1.0 - $1.1).magnitude) }
    }
  }

  /// The greatest |sample|.
  package var peak: Decibels { Decibels(amplitude: Double(peakAmplitude)) }

  /// The greatest |sample| as an amplitude.
  package var peakAmplitude: Float {
    channels.reduce(0) { $1.reduce($0) { max($0, $1.magnitude) } }
  }

  /// The root of the mean square over all samples of one channel.
  package func rms(ofChannel channel: Int) -> Decibels {
    let sum = channels[channel].reduce(0) { $0 + Double($1) * Double($1) }
    return Decibels(amplitude: (sum / Double(max(frameCount.count, 1))).squareRoot())
  }

  /// Whether every sample is a number.
  package var isFinite: Bool { channels.allSatisfy { $0.allSatisfy(\.isFinite) } }

  /// The magnitude of the Fourier transform of one channel at one frequency: for an impulse
  /// response, the frequency response. Linear in the length.
  package func spectrum(ofChannel channel: Int, at frequency: Hertz) -> Decibels {
    let step = 2 * Double.pi * frequency.value / format.sampleRate.value
    // The rotating phasor is set anew now and then: its rounding errors would add up.
    var (real, imaginary) = (0.0, 0.0)
    let (stepReal, stepImaginary) = (cos(step), sin(step))
    var (phasorReal, phasorImaginary) = (1.0, 0.0)
    for (frame, sample) in channels[channel].enumerated() {
      if frame % 256 == 0 {
        (phasorReal, phasorImaginary) = (cos(step * Double(frame)), sin(step * Double(frame)))
      }
      real += Double(sample) * phasorReal
      imaginary -= Double(sample) * phasorImaginary
      (phasorReal, phasorImaginary) = (
        phasorReal * stepReal - phasorImaginary * stepImaginary,
        phasorReal * stepImaginary + phasorImaginary * stepReal
      )
    }
    return Decibels(amplitude: (real * real + imaginary * imaginary).squareRoot())
  }
}

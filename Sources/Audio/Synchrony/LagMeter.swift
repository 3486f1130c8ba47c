import Glibc

/// Measures by how much one stretch of sound lies behind another, to a fraction of a sample, by the
/// smoothed coherence transform (Carter, Nuttall and Cable 1973): the cross-spectrum, averaged over
/// pieces and divided by the mean of both spectra, so that each frequency counts by how much the two
/// have in common and not by how loud it is there. Neither microphone, level, polarity nor steady
/// noise matters.
package final class LagMeter {
  /// A lag, and how far its peak stands out.
  package struct Finding: Hashable, Sendable {
    /// By how many samples the first sound is later than the second, within ± `reach`.
    package let lag: Double
    /// The peak in root mean squares of the correlation. Without shared sound it is 3.5 to 5, and
    /// hardly ever 7.
    package let quality: Double
  }

  /// Samples of a piece.
  package static let pieceLength = 8192
  /// Samples from one piece to the next.
  package static let pieceDistance = 4096
  /// The greatest lag that is found, in samples: 62 ms at 16 kHz.
  package static let reach = 1000
  private static let size = 2 * pieceLength
  /// At 16 kHz, 150 Hz … 7 kHz.
  private static let bins = 154..<7168

  private let transform = FourierTransform(count: size)
  private let window: [Float]
  private let real = Scratch<Float>(repeating: 0, count: size)
  private let imaginary = Scratch<Float>(repeating: 0, count: size)
  private let crossReal = Scratch<Float>(repeating: 0, count: bins.upperBound)
  private let crossImaginary = Scratch<Float>(repeating: 0, count: bins.upperBound)
  private let first = Scratch<Float>(repeating: 0, count: bins.upperBound)
  private let second = Scratch<Float>(repeating: 0, count: bins.upperBound)

  package init() {
    window = (0..<Self.pieceLength).map {
      Float(0.5 - 0.5 * cos(2 * .pi * (Double($0) + 0.5) / Double(Self.pieceLength)))
    }
  }

  /// Adds a piece of each sound.
  package func add(_ a: ArraySlice<Float>, _ b: ArraySlice<Float>) {
    precondition(a.count == Self.pieceLength && b.count == Self.pieceLength)
    for index in 0..<Self.size {
      let isInside = index < Self.pieceLength
      real[index] = isInside ? a[a.startIndex + index] * window[index] : 0
      imaginary[index] = isInside ? b[b.startIndex + index] * window[index] : 0
    }
    unsafe transform.transform(real.start, imaginary.start)
    // Two real sounds share the transform: A = (Z + Z̄ mirrored) / 2, B = (Z − Z̄ mirrored) / 2i.
    for bin in Self.bins {
      let mirror = Self.size - bin
      let (ar, ai) = (real[bin] + real[mirror], imaginary[bin] - imaginary[mirror])
      let (br, bi) = (imaginary[bin] + imaginary[mirror], real[mirror] - real[bin])
      crossReal[bin] += ar * br + ai * bi
      crossImaginary[bin] += ai * br - ar * bi
      first[bin] += ar * ar + ai * ai
      second[bin] += br * br + bi * bi
    }
  }

  /// The lag of all pieces that were added, and begins anew; nil where one of the two is silent.
  package func finish() -> Finding? {
    for index in 0..<Self.size { (real[index], imaginary[index]) = (0, 0) }
    var isSilent = true
    for bin in Self.bins {
      let scale = (first[bin] * second[bin]).squareRoot()
      if scale > 0 {
        isSilent = false
        (real[bin], imaginary[bin]) = (crossReal[bin] / scale, crossImaginary[bin] / scale)
        (real[Self.size - bin], imaginary[Self.size - bin]) = (real[bin], -imaginary[bin])
      }
      (crossReal[bin], crossImaginary[bin], first[bin], second[bin]) = (0, 0, 0, 0)
    }
    guard !isSilent else { return nil }
    unsafe transform.transform(imaginary.start, real.start)
    return peak()
  }

  private func peak() -> Finding {
    func value(_ lag: Int) -> Double { Double(abs(real[lag < 0 ? lag + Self.size : lag])) }
    var (best, energy) = (0, 0.0)
    for lag in -Self.reach...Self.reach {
      energy += value(lag) * value(lag)
      if value(lag) > value(best) { best = lag }
    }
    let mean = (energy / Double(2 * Self.reach + 1)).squareRoot()
    guard mean > 0 else { return Finding(lag: 0, quality: 0) }
    // The top of the parabola through the peak and its neighbours.
    let (before, top, after) = (value(best - 1), value(best), value(best + 1))
    let bend = before - 2 * top + after
    let shift = bend < 0 ? max(-0.5, min(0.5, 0.5 * (before - after) / bend)) : 0
    return Finding(lag: Double(best) + shift, quality: top / mean)
  }
}

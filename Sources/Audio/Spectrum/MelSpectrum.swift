import Glibc

/// Mel band powers, a hundred frames a second.
///
/// The bands are triangles of equal width in mel, each reaching to its neighbours' centres (Davis
/// and Mermelstein 1980), with mel = 2595 · log10(1 + f / 700 Hz). A frame is a centred Hamming
/// window of 25 ms, after pre-emphasis with 0.97. A spectrum belongs to one thread at a time.
package final class MelSpectrum {
  /// In Hz.
  package let sampleRate: Hertz
  /// How many bands there are.
  package let bandCount: Int

  private let transform: FourierTransform
  private let real: Scratch<Float>
  private let imaginary: Scratch<Float>
  private let window: [Float]
  /// The sum of the window's squares.
  private let windowPower: Float
  private let bands: [Band]

  /// The weights of the adjacent bins of a band.
  private struct Band {
    let firstBin: Int
    let weights: [Float]
  }

  /// Frames a second.
  package static let frameRate = 100.0
  private static let windowSeconds = 0.025
  private static let emphasis: Float = 0.97

  /// - Parameters:
  ///   - bandCount: the number of bands in the range.
  ///   - range: the frequencies covered, up to half the sample rate.
  package init(sampleRate: Hertz, bandCount: Int, range: ClosedRange<Hertz>) {
    self.sampleRate = sampleRate
    self.bandCount = bandCount
    let length = Int((sampleRate.value * Self.windowSeconds).rounded())
    var size = 16
    while size < length { size *= 2 }
    window = (0..<length).map {
      Float(0.54 - 0.46 * cos(2 * Double.pi * Double($0) / Double(length - 1)))
    }
    windowPower = window.reduce(0) { $0 + $1 * $1 }
    transform = FourierTransform(count: size)
    real = Scratch(repeating: 0, count: size)
    imaginary = Scratch(repeating: 0, count: size)
    bands = Self.bands(bandCount, range, sampleRate: sampleRate.value, size: size)
  }

  /// The number of frames with a centre among `sampleCount` samples.
  package func frameCount(of sampleCount: Int) -> Int {
    Int(Double(sampleCount) * Self.frameRate / sampleRate.value)
  }

  /// The powers of all bands, frame by frame, as mean squares; beyond its ends the sound counts as
  /// silent. The bands of a full-scale sine add up to about one half, times the pre-emphasis.
  ///
  /// Complexity: O(*n* log *w*) for *n* samples and windows of *w*.
  package func powers(of sound: Span<Int16>) -> [Float] {
    let count = frameCount(of: sound.count)
    var powers: [Float] = []
    powers.reserveCapacity(count * bandCount)
    // Two frames share one transform, as its real and imaginary parts.
    for frame in stride(from: 0, to: count, by: 2) {
      load(sound, frame, into: real)
      load(sound, frame + 1, into: imaginary)
      unsafe transform.transform(real.start, imaginary.start)
      for band in bands { powers.append(power(of: band, isSecond: false)) }
      guard frame + 1 < count else { break }
      for band in bands { powers.append(power(of: band, isSecond: true)) }
    }
    return powers
  }

  private func load(_ sound: Span<Int16>, _ frame: Int, into part: borrowing Scratch<Float>) {
    let middle = (Double(frame) + 0.5) * sampleRate.value / Self.frameRate
    let start = Int(middle.rounded()) - window.count / 2
    for index in 0..<part.count { part[index] = 0 }
    let first = max(0, -start)
    let last = min(window.count, sound.count - start)
    guard first < last else { return }
    var before = start + first > 0 ? Float(sound[start + first - 1]) : 0
    for index in first..<last {
      let sample = Float(sound[start + index])
      part[index] = (sample - Self.emphasis * before) * window[index] / 32768
      before = sample
    }
  }

  /// With z = a + i·b: A = (Z + Z̄ mirrored) / 2, B = (Z − Z̄ mirrored) / 2i.
  private func power(of band: Band, isSecond: Bool) -> Float {
    let size = transform.count
    var sum: Float = 0
    for (offset, weight) in band.weights.enumerated() {
      let bin = band.firstBin + offset
      let mirror = (size - bin) % size
      let sign: Float = isSecond ? -1 : 1
      let a = real[bin] + sign * real[mirror]
      let b = imaginary[bin] - sign * imaginary[mirror]
      sum += weight * (a * a + b * b)
    }
    // By Parseval's theorem; doubled, as every bin except two has a mirror image.
    return sum / 2 / (Float(size) * windowPower)
  }

  private static func bands(
    _ count: Int, _ range: ClosedRange<Hertz>, sampleRate: Double, size: Int
  ) -> [Band] {
    func mel(_ frequency: Double) -> Double { 2595 * log10(1 + frequency / 700) }
    func frequency(_ mel: Double) -> Double { 700 * (pow(10, mel / 2595) - 1) }
    let low = mel(range.lowerBound.value)
    let step = (mel(min(range.upperBound.value, sampleRate / 2)) - low) / Double(count + 1)
    return (0..<count).map { number in
      let corners = (0...2).map { frequency(low + step * Double(number + $0)) }
      let first = Int((corners[0] * Double(size) / sampleRate).rounded(.up))
      let last = min(size / 2, Int(corners[2] * Double(size) / sampleRate))
      guard first <= last else { return Band(firstBin: 0, weights: []) }
      let weights = (first...last).map { bin in
        let place = Double(bin) * sampleRate / Double(size)
        let rising = (place - corners[0]) / (corners[1] - corners[0])
        let falling = (corners[2] - place) / (corners[2] - corners[1])
        return Float(max(0, min(rising, falling)))
      }
      return Band(firstBin: first, weights: weights)
    }
  }
}

import Glibc

/// How the level of four bands moves over time, a hundred times a second: what two recordings of one
/// event have in common, whatever their microphones and levels.
///
/// The logarithm of each band's power, less its mean over two seconds, in units of its own root mean
/// square and limited to ±3, so that no single bang decides. About 6 MB an hour.
package struct BandPattern: Sendable {
  /// Frames a second.
  package static let frameRate = 100.0
  /// A value of each band for each frame.
  fileprivate(set) var frames: [SIMD4<Float>]

  /// - Parameter powers: of each band, frame by frame.
  init(powers: [SIMD4<Float>]) {
    frames = powers.map { power in
      var level = SIMD4<Float>()
      for band in 0..<4 { level[band] = log(power[band] + 1e-9) }
      return level
    }
    removeMean(reach: 100)
    var squares = SIMD4<Float>()
    for frame in frames { squares += frame * frame }
    let spread = (squares / Float(max(frames.count, 1))).squareRoot()
    let limit = SIMD4<Float>(repeating: 3)
    for index in frames.indices {
      let frame = frames[index] / spread.replacing(with: 1, where: spread .< 1e-6)
      frames[index] = frame.clamped(lowerBound: -limit, upperBound: limit)
    }
  }

  private mutating func removeMean(reach: Int) {
    var sum = SIMD4<Double>()
    var sums = [sum]
    sums.reserveCapacity(frames.count + 1)
    for frame in frames {
      sum += SIMD4<Double>(frame)
      sums.append(sum)
    }
    for index in frames.indices {
      let (first, end) = (max(0, index - reach), min(frames.count, index + reach + 1))
      let mean = (sums[end] - sums[first]) / Double(end - first)
      frames[index] -= SIMD4<Float>(mean)
    }
  }
}

/// Hears mono sound at 16 kHz and keeps its pattern.
package final class BandPatternMeter {
  /// The format that it hears.
  package static let format = AudioFormat(sampleRate: Hertz(16_000), channelCount: 1)
  private static let hop = 160
  private static let width = 512
  /// The first bins of the bands, and the end of the last: 156 Hz … 7 kHz.
  private static let edges = [5, 16, 38, 90, 224]

  private let transform = FourierTransform(count: width)
  private let real = Scratch<Float>(repeating: 0, count: width)
  private let imaginary = Scratch<Float>(repeating: 0, count: width)
  private let window: [Float]
  /// Samples from the start of the next window; the first window is centred on the first frame.
  private var samples: [Float]
  private var powers: [SIMD4<Float>] = []

  package init() {
    window = (0..<Self.width).map {
      Float(0.5 - 0.5 * cos(2 * .pi * (Double($0) + 0.5) / Double(Self.width)))
    }
    samples = Array(repeating: 0, count: (Self.width - Self.hop) / 2)
  }

  /// Hears the next block.
  package func analyse(_ block: borrowing AudioBuffer) {
    let row = block.channel(0)
    for index in row.indices { samples.append(row[index].isFinite ? row[index] : 0) }
    var start = 0
    while start + Self.width <= samples.count {
      powers.append(power(at: start))
      start += Self.hop
    }
    samples.removeFirst(start)
  }

  private func power(at start: Int) -> SIMD4<Float> {
    for index in 0..<Self.width {
      real[index] = samples[start + index] * window[index]
      imaginary[index] = 0
    }
    unsafe transform.transform(real.start, imaginary.start)
    var power = SIMD4<Float>()
    for band in 0..<4 {
      for bin in Self.edges[band]..<Self.edges[band + 1] {
        power[band] += real[bin] * real[bin] + imaginary[bin] * imaginary[bin]
      }
    }
    return power
  }

  /// The pattern of all that it heard.
  package func pattern() -> BandPattern { BandPattern(powers: powers) }
}

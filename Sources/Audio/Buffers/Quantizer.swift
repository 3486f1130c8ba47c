/// Quantises samples to 16 or 24 bits with triangular dither, so that the error is noise
/// independent of the signal.
///
/// The dither spans ±1 step (TPDF). Samples already on the grid stay unchanged, so untouched 16-bit
/// sound and digital silence stay as they are. The noise is a function of frame number and channel,
/// so the same frame is always quantised alike. Values beyond the grid's range, −1 to 1 less one
/// step, are clipped.
package final class Quantizer: Processor {
  package let outputFormat: AudioFormat

  /// The word length.
  package enum Depth: Int, Hashable, Sendable {
    /// Steps of 2⁻¹⁵.
    case bits16 = 16
    /// Steps of 2⁻²³.
    case bits24 = 24
  }

  private let depth: Depth
  /// The number of the next frame.
  private var position: Int
  private static let chunk = 256
  /// A random number for every two frames of a chunk, and for the pair before it.
  private let noise = Scratch<UInt64>(repeating: 0, count: chunk / 2 + 1)

  /// A quantiser whose first frame is number `startingAt` of the whole sound.
  package init(_ depth: Depth, format: AudioFormat, startingAt position: Frames = .zero) {
    outputFormat = format
    self.depth = depth
    self.position = position.count
  }

  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    let frameCount = input.frameCount.count
    output.frameCount = input.frameCount
    for start in stride(from: 0, to: frameCount, by: Self.chunk) {
      let count = min(Self.chunk, frameCount - start)
      for channel in 0..<output.channelCount {
        let source = unsafe input.baseAddress(ofChannel: channel) + start
        let target = unsafe output.baseAddress(ofChannel: channel) + start
        let frame = position &+ start
        fillNoise(count, firstFrame: frame, channel: channel)
        switch depth {
        case .bits16:
          unsafe quantize(
            source, to: target, count: count, skipped: frame & 1, range: 0x1p15, fitsOneSum: true)
        case .bits24:
          unsafe quantize(
            source, to: target, count: count, skipped: frame & 1, range: 0x1p23, fitsOneSum: false)
        }
      }
    }
    position &+= frameCount
  }

  /// Fills `noise` for `count` frames with values of SplitMix64's finaliser (Steele, Lea and Flood
  /// 2014): one for every two frames of a channel, the lower half for the even frame.
  @inline(__always)
  private func fillNoise(_ count: Int, firstFrame: Int, channel: Int) {
    let target = unsafe noise.start
    // At most 64 channels: each pair of frames of each channel has its own number.
    let number = UInt64(truncatingIfNeeded: firstFrame &>> 1) &* 64 &+ UInt64(channel)
    // Times the golden ratio; the next pair's number is 64 greater.
    var seed = number &* 0x9e37_79b9_7f4a_7c15
    let step = 64 &* UInt64(0x9e37_79b9_7f4a_7c15)
    for index in 0...(count &>> 1) {
      var z = seed
      z = (z ^ (z &>> 30)) &* 0xbf58_476d_1ce4_e5b9
      z = (z ^ (z &>> 27)) &* 0x94d0_49bb_1331_11eb
      z ^= z &>> 31
      unsafe target[index] = z.littleEndian
      seed &+= step
    }
  }

  /// Quantises eight samples at a time. Inlined, so that the depth is decided outside the loop.
  /// - Parameter skipped: halves of numbers in `noise` that belong to frames before the first.
  @inline(__always)
  private func quantize(
    _ source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, count: Int,
    skipped: Int, range: Float, fitsOneSum: Bool
  ) {
    let noise = unsafe UnsafeRawPointer(noise.start) + 4 * skipped
    var index = 0
    while index &+ 8 <= count {
      let bits = unsafe noise.loadUnaligned(fromByteOffset: index &<< 2, as: SIMD8<UInt32>.self)
      let eight = unsafe Self.quantized(
        FiniteSamples.filtered(LinkedLevel.load(source + index)), bits, range: range,
        fitsOneSum: fitsOneSum)
      unsafe LinkedLevel.store(eight, at: target + index)
      index &+= 8
    }
    while index < count {
      let bits = unsafe noise.loadUnaligned(fromByteOffset: index &<< 2, as: UInt32.self)
      let eight = unsafe Self.quantized(
        SIMD8(repeating: FiniteSamples.filtered(source[index])), SIMD8(repeating: bits),
        range: range, fitsOneSum: fitsOneSum)
      unsafe target[index] = eight[0]
      index &+= 1
    }
  }

  @inline(__always)
  private static func quantized(
    _ samples: SIMD8<Float>, _ bits: SIMD8<UInt32>, range: Float, fitsOneSum: Bool
  ) -> SIMD8<Float> {
    let one = SIMD8<Float>(repeating: 1)
    let scaled = LinkedLevel.greater(LinkedLevel.lesser(samples, one), 0 - one) * range
    // At 24 bits a step and its fractions do not fit into one sum: whole steps are split off in two
    // parts. Every subtraction is exact.
    let coarse = fitsOneSum ? SIMD8() : rounded(scaled * (1 / 4096)) * 4096
    let rest = fitsOneSum ? scaled : scaled - coarse
    let fine = rounded(rest)
    let fraction = rest - fine
    // All ones where nothing is left to round: such a sample is not dithered and keeps its value
    // except for the sign of a zero. Bitwise, because a SIMD comparison compiles to a loop over
    // lanes.
    let isOnGrid =
      unsafe ((unsafeBitCast(fraction, to: SIMD8<Int32>.self) & 0x7fff_ffff) &- 1) &>> 31
    // The difference of two uniform numbers below 2¹⁶ has a triangular distribution.
    let (first, second) = (bits &>> 16, bits & 0xffff)
    let noise = unsafe unsafeBitCast(first &- second, to: SIMD8<Int32>.self)
    let dither = SIMD8<Float>(noise & ~isOnGrid) * (1 / 65_536)
    let near = fine + rounded(fraction + dither)
    let dithered = fitsOneSum ? near : coarse + near
    let kept = unsafe unsafeBitCast(scaled, to: SIMD8<Int32>.self) & isOnGrid
    let result = unsafe unsafeBitCast(
      unsafeBitCast(dithered, to: SIMD8<Int32>.self) | kept, to: SIMD8<Float>.self)
    let top = SIMD8(repeating: range - 1)
    let bottom = SIMD8(repeating: -range)
    return LinkedLevel.greater(LinkedLevel.lesser(result, top), bottom) * (1 / range)
  }

  /// The nearest whole numbers, for magnitudes below 2²².
  @inline(__always)
  private static func rounded(_ x: SIMD8<Float>) -> SIMD8<Float> {
    let shift = SIMD8<Float>(repeating: 12_582_912)
    return (x + shift) - shift
  }

  /// The number of the next frame.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) { try coder.pass(&position) }
}

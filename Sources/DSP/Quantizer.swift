public import AudioModel

/// Brings samples to the grid of 16 or 24 bits with triangular dither, so that the error is noise
/// without any trace of the sound.
///
/// The dither spans ±1 step (TPDF). A sample that already lies on the grid is left alone: sound of
/// 16 bits that nothing has touched stays as it is, and digital silence stays silent. The noise is
/// a function of the frame's number and the channel, so the same frame is always quantised alike.
/// What exceeds the grid's range, −1 to 1 less a step, is clipped.
public final class Quantizer: Processor {
  /// What comes out: what goes in.
  public let outputFormat: AudioFormat
  /// Nothing is held back.
  public var latency: Frames { .zero }

  /// How fine the grid is.
  public enum Depth: Int, Hashable, Sendable {
    /// Steps of 2⁻¹⁵.
    case bits16 = 16
    /// Steps of 2⁻²³.
    case bits24 = 24
  }

  private let depth: Depth
  /// The number of the next frame.
  private var position: Int
  private static let chunk = 256
  private let noise = Scratch<Int32>(repeating: 0, count: chunk)

  /// A quantiser whose first frame is number `startingAt` of the whole sound.
  public init(_ depth: Depth, format: AudioFormat, startingAt position: Frames = .zero) {
    outputFormat = format
    self.depth = depth
    self.position = position.count
  }

  /// Quantises a block.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    let frameCount = input.frameCount.count
    output.frameCount = input.frameCount
    for start in stride(from: 0, to: frameCount, by: Self.chunk) {
      let count = min(Self.chunk, frameCount - start)
      for channel in 0..<output.channelCount {
        let source = unsafe input.baseAddress(ofChannel: channel) + start
        let target = unsafe output.baseAddress(ofChannel: channel) + start
        fillNoise(count, firstFrame: position &+ start, channel: channel)
        unsafe FiniteSamples.copy(from: source, to: target, count: count)
        switch depth {
        case .bits16: unsafe quantize(target, count: count, range: 0x1p15, fitsOneSum: true)
        case .bits24: unsafe quantize(target, count: count, range: 0x1p23, fitsOneSum: false)
        }
      }
    }
    position &+= frameCount
  }

  /// Fills `noise` with the difference of two evenly spread whole numbers below 2²⁴, from the
  /// finaliser of SplitMix64 (Steele, Lea and Flood 2014).
  @inline(__always)
  private func fillNoise(_ count: Int, firstFrame: Int, channel: Int) {
    let target = unsafe noise.start
    // 64 channels at most: every sample of the sound has a number of its own.
    let number = UInt64(truncatingIfNeeded: firstFrame) &* 64 &+ UInt64(channel)
    // Times the golden ratio; the next frame's number is 64 more.
    var seed = number &* 0x9e37_79b9_7f4a_7c15
    let step = 64 &* UInt64(0x9e37_79b9_7f4a_7c15)
    for index in 0..<count {
      var z = seed
      z = (z ^ (z &>> 30)) &* 0xbf58_476d_1ce4_e5b9
      z = (z ^ (z &>> 27)) &* 0x94d0_49bb_1331_11eb
      z ^= z &>> 31
      let first = Int32(truncatingIfNeeded: z &>> 40)
      let second = Int32(truncatingIfNeeded: z & 0xff_ffff)
      unsafe target[index] = first &- second
      seed &+= step
    }
  }

  /// Eight samples at a time; the last eight may read noise beyond `count`, but samples not. Inlined,
  /// so that what depends on the depth is decided once.
  @inline(__always)
  private func quantize(
    _ samples: UnsafeMutablePointer<Float>, count: Int, range: Float, fitsOneSum: Bool
  ) {
    let dither = unsafe UnsafeRawPointer(noise.start)
    var index = 0
    while index &+ 8 <= count {
      let noise = unsafe dither.load(fromByteOffset: index &<< 2, as: SIMD8<Int32>.self)
      let eight = unsafe Self.quantized(
        LinkedLevel.load(samples + index), noise, range: range, fitsOneSum: fitsOneSum)
      unsafe LinkedLevel.store(eight, at: samples + index)
      index &+= 8
    }
    while index < count {
      let eight = unsafe Self.quantized(
        SIMD8(repeating: samples[index]), SIMD8(repeating: noise[index]), range: range,
        fitsOneSum: fitsOneSum)
      unsafe samples[index] = eight[0]
      index &+= 1
    }
  }

  @inline(__always)
  private static func quantized(
    _ samples: SIMD8<Float>, _ noise: SIMD8<Int32>, range: Float, fitsOneSum: Bool
  ) -> SIMD8<Float> {
    let one = SIMD8<Float>(repeating: 1)
    let scaled = LinkedLevel.greater(LinkedLevel.lesser(samples, one), 0 - one) * range
    // At 24 bits a step and its fractions do not fit into one sum: whole steps are split off in two
    // parts. Every subtraction is exact.
    let coarse = fitsOneSum ? SIMD8() : rounded(scaled * (1 / 4096)) * 4096
    let rest = fitsOneSum ? scaled : scaled - coarse
    let fine = rounded(rest)
    let fraction = rest - fine
    // All ones where nothing is left to round: without dither such a sample comes out as it was, but
    // for the sign of a zero. As bits, since a comparison of vectors becomes a loop over its lanes.
    let isOnGrid =
      unsafe ((unsafeBitCast(fraction, to: SIMD8<Int32>.self) & 0x7fff_ffff) &- 1) &>> 31
    let dither = SIMD8<Float>(noise & ~isOnGrid) * (1 / 16_777_216)
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

  /// Gives nothing: nothing was held back.
  public func finish(into output: inout AudioBuffer) { output.frameCount = .zero }

  /// The number of the next frame.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(position)
    return snapshot
  }

  /// Goes on with the frame at which another quantiser stopped.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let position = try reader.next(Int.self)
    try reader.finish()
    self.position = position
  }
}

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
    FiniteSamples.copy(input, into: &output)
    let frameCount = output.frameCount.count
    for start in stride(from: 0, to: frameCount, by: Self.chunk) {
      let count = min(Self.chunk, frameCount - start)
      for channel in 0..<output.channelCount {
        let samples = unsafe output.baseAddress(ofChannel: channel) + start
        fillNoise(count, firstFrame: position &+ start, channel: channel)
        unsafe quantize(samples, count: count)
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

  /// Eight samples at a time; the last eight may read noise beyond `count`, but samples not.
  @inline(__always)
  private func quantize(_ samples: UnsafeMutablePointer<Float>, count: Int) {
    let dither = unsafe UnsafeRawPointer(noise.start)
    var index = 0
    while index &+ 8 <= count {
      let noise = unsafe dither.load(fromByteOffset: index &<< 2, as: SIMD8<Int32>.self)
      unsafe LinkedLevel.store(
        quantized(LinkedLevel.load(samples + index), noise), at: samples + index)
      index &+= 8
    }
    while index < count {
      let noise = SIMD8(repeating: self.noise[index])
      unsafe samples[index] = quantized(SIMD8(repeating: samples[index]), noise)[0]
      index &+= 1
    }
  }

  @inline(__always)
  private func quantized(_ samples: SIMD8<Float>, _ noise: SIMD8<Int32>) -> SIMD8<Float> {
    let range = Float(Int32(1) &<< Int32(depth.rawValue - 1))
    let one = SIMD8<Float>(repeating: 1)
    let scaled = LinkedLevel.greater(LinkedLevel.lesser(samples, one), 0 - one) * range
    // Whole steps are split off in two parts, since at 24 bits a step and its fractions do not fit
    // into one sum; every subtraction is exact.
    let coarse = Self.rounded(scaled * (1 / 4096)) * 4096
    let rest = scaled - coarse
    let fine = Self.rounded(rest)
    let fraction = rest - fine
    let dither = SIMD8<Float>(noise) * (1 / 16_777_216)
    let dithered = coarse + (fine + Self.rounded(fraction + dither))
    let result = dithered.replacing(with: scaled, where: fraction .== 0)
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

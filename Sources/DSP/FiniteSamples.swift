import AudioModel

/// The rule for samples that are no numbers: every processor takes NaN and ±∞ as 0, so that one
/// damaged sample stays one sample and never lives on in a filter or an envelope. All other
/// samples, −0 and subnormals too, come through bit for bit.
enum FiniteSamples {
  /// Copies a run of samples with the rule applied; `source` and `destination` may be the same.
  @inline(__always)
  static func copy(
    from source: UnsafePointer<Float>, to destination: UnsafeMutablePointer<Float>, count: Int
  ) {
    var index = 0
    while index &+ 8 <= count {
      let samples = unsafe UnsafeRawPointer(source + index).loadUnaligned(as: SIMD8<Float>.self)
      unsafe UnsafeMutableRawPointer(destination + index).storeBytes(
        of: filtered(samples), as: SIMD8<Float>.self)
      index &+= 8
    }
    while index < count {
      unsafe destination[index] = filtered(source[index])
      index &+= 1
    }
  }

  /// Copies a whole block with the rule applied.
  @inline(__always)
  static func copy(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = input.frameCount
    for channel in 0..<input.channelCount {
      unsafe copy(
        from: input.baseAddress(ofChannel: channel), to: output.baseAddress(ofChannel: channel),
        count: input.frameCount.count)
    }
  }

  /// One sample under the rule.
  @inline(__always)
  static func filtered(_ sample: Float) -> Float { sample.isFinite ? sample : 0 }

  @inline(__always)
  private static func filtered(_ samples: SIMD8<Float>) -> SIMD8<Float> {
    // All ones in the exponent, and only there, is what makes NaN and ∞.
    let exponent = SIMD8<UInt32>(repeating: 0x7f80_0000)
    let bits = unsafe unsafeBitCast(samples, to: SIMD8<UInt32>.self)
    return samples.replacing(with: 0, where: (bits & exponent) .== exponent)
  }
}

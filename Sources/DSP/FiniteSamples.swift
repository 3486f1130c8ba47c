import AudioModel

/// The rule for samples that cannot be sound: every processor takes NaN, ±∞ and what reaches 2⁶⁴
/// (385 dB over full scale) as 0, so that one damaged sample stays one sample and never lives on in
/// a filter or an envelope, and no sum or gain grows beyond what a float holds. All other samples,
/// −0 and subnormals too, come through bit for bit.
enum FiniteSamples {
  /// The least magnitude that counts as damage: 2⁶⁴. Computed, so that kernels hold it as a constant.
  @inline(__always)
  private static var limit: Float { 0x1p64 }

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

  /// Copies a run of samples, scaled, with the rule applied; `source` and `destination` may be the
  /// same.
  @inline(__always)
  static func copy(
    from source: UnsafePointer<Float>, to destination: UnsafeMutablePointer<Float>, count: Int,
    gain: Float
  ) {
    var index = 0
    while index &+ 8 <= count {
      let samples = unsafe UnsafeRawPointer(source + index).loadUnaligned(as: SIMD8<Float>.self)
      unsafe UnsafeMutableRawPointer(destination + index).storeBytes(
        of: filtered(samples) * gain, as: SIMD8<Float>.self)
      index &+= 8
    }
    while index < count {
      unsafe destination[index] = filtered(source[index]) * gain
      index &+= 1
    }
  }

  /// Adds a run of samples, scaled, with the rule applied.
  @inline(__always)
  static func add(
    from source: UnsafePointer<Float>, to destination: UnsafeMutablePointer<Float>, count: Int,
    gain: Float
  ) {
    var index = 0
    while index &+ 8 <= count {
      let samples = unsafe UnsafeRawPointer(source + index).loadUnaligned(as: SIMD8<Float>.self)
      let place = unsafe UnsafeMutableRawPointer(destination + index)
      let sum = unsafe place.loadUnaligned(as: SIMD8<Float>.self) + filtered(samples) * gain
      unsafe place.storeBytes(of: sum, as: SIMD8<Float>.self)
      index &+= 8
    }
    while index < count {
      unsafe destination[index] += filtered(source[index]) * gain
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
  static func filtered(_ sample: Float) -> Float { sample.magnitude < limit ? sample : 0 }

  /// Eight samples under the rule.
  @inline(__always)
  static func filtered(_ samples: SIMD8<Float>) -> SIMD8<Float> {
    // Without their signs, the bits of floats are in the order of their magnitudes, ∞ and NaN last.
    // The sign of a difference tells which are too great; a comparison of vectors becomes a loop
    // over its lanes.
    let bits = unsafe unsafeBitCast(samples, to: SIMD8<Int32>.self)
    let isSound = ((bits & 0x7fff_ffff) &- Int32(bitPattern: limit.bitPattern)) &>> 31
    return unsafe unsafeBitCast(bits & isSound, to: SIMD8<Float>.self)
  }
}

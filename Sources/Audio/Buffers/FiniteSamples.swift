/// The rule for damaged samples: every processor replaces NaN, ±∞ and magnitudes from 2⁶⁴ (385 dB
/// above full scale) by 0. A damaged sample thus never persists in a filter or an envelope, and no
/// sum or gain overflows. All other samples, including −0 and subnormal numbers, pass unchanged.
enum FiniteSamples {
  /// The least magnitude that counts as damage: 2⁶⁴. Computed, so that kernels keep it as a
  /// constant.
  @inline(__always)
  private static var limit: Float { 0x1p64 }

  /// Copies samples with the rule applied; `source` and `destination` may be the same.
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

  /// Copies and scales samples with the rule applied; `source` and `destination` may be the same.
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

  /// Adds scaled samples with the rule applied.
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

  /// Appends frames of a block, which must fit, with the rule applied.
  @inline(__always)
  static func append(
    _ input: borrowing AudioBuffer, start: Int, count: Int, to output: inout AudioBuffer
  ) {
    precondition(start >= 0 && start + count <= input.frameCount.count)
    let place = output.frameCount.count
    output.frameCount += Frames(count)
    for channel in 0..<input.channelCount {
      unsafe copy(
        from: input.baseAddress(ofChannel: channel) + start,
        to: output.baseAddress(ofChannel: channel) + place, count: count)
    }
  }

  /// One sample under the rule.
  @inline(__always)
  static func filtered(_ sample: Float) -> Float { sample.magnitude < limit ? sample : 0 }

  /// Eight samples under the rule.
  @inline(__always)
  static func filtered(_ samples: SIMD8<Float>) -> SIMD8<Float> {
    // Without the sign, the bits of floats sort by magnitude, ∞ and NaN last, so the sign of a
    // difference finds the damaged ones. A SIMD comparison would compile to a loop over lanes.
    let bits = unsafe unsafeBitCast(samples, to: SIMD8<Int32>.self)
    let isSound = ((bits & 0x7fff_ffff) &- Int32(bitPattern: limit.bitPattern)) &>> 31
    return unsafe unsafeBitCast(bits & isSound, to: SIMD8<Float>.self)
  }
}

/// Limits samples to what an encoder accepts: finite, and within ±`limit`.
package struct SampleBounds: Sendable {
  private let limit: Float

  /// Full scale is 1.
  package init(limit: Float) { self.limit = limit }

  /// The block itself if all samples are within the bounds; otherwise a copy in which NaN, ±∞ and
  /// magnitudes from 2⁶⁴ are 0 and all else is clipped. O(samples); allocates only for the copy.
  package func bounded(_ block: SharedBuffer) -> SharedBuffer {
    guard !holds(block.buffer) else { return block }
    var copy = AudioBuffer(
      channelCount: block.buffer.channelCount, capacity: block.buffer.frameCount)
    FiniteSamples.copy(block.buffer, into: &copy)
    for channel in 0..<copy.channelCount {
      let samples = unsafe copy.baseAddress(ofChannel: channel)
      for index in 0..<copy.frameCount.count {
        unsafe samples[index] = min(max(samples[index], -limit), limit)
      }
    }
    return SharedBuffer(copy)
  }

  /// Whether all samples are numbers within the bounds. O(samples).
  package func holds(_ block: borrowing AudioBuffer) -> Bool {
    for channel in 0..<block.channelCount {
      let samples = unsafe block.baseAddress(ofChannel: channel)
      var isWithin = true
      // No early exit, so that the loop vectorises. NaN is within no range.
      for index in 0..<block.frameCount.count {
        let holds = unsafe samples[index].magnitude <= limit
        isWithin = isWithin && holds
      }
      guard isWithin else { return false }
    }
    return true
  }
}

/// The level for linked gates and compressors: the greatest magnitude among all channels at each
/// frame, so that all channels share one gain and the stereo image stays.
enum LinkedLevel {
  /// Writes max |x| over the channels of `count` frames from `start` to `levels`. Samples must be
  /// finite.
  @inline(__always)
  static func measure(
    _ block: borrowing AudioBuffer, start: Int, count: Int, into levels: UnsafeMutablePointer<Float>
  ) {
    let first = unsafe block.baseAddress(ofChannel: 0) + start
    var index = 0
    while index &+ 8 <= count {
      unsafe store(magnitude(load(first + index)), at: levels + index)
      index &+= 8
    }
    while index < count {
      unsafe levels[index] = first[index].magnitude
      index &+= 1
    }
    for channel in 1..<max(block.channelCount, 1) {
      let samples = unsafe block.baseAddress(ofChannel: channel) + start
      index = 0
      while index &+ 8 <= count {
        let greater = unsafe greater(load(levels + index), magnitude(load(samples + index)))
        unsafe store(greater, at: levels + index)
        index &+= 8
      }
      while index < count {
        unsafe levels[index] = max(levels[index], samples[index].magnitude)
        index &+= 1
      }
    }
  }

  /// The greatest of `count` levels; 0 for none.
  @inline(__always)
  static func peak(_ levels: UnsafePointer<Float>, count: Int) -> Float {
    var lanes = SIMD8<Float>.zero
    var index = 0
    while index &+ 8 <= count {
      lanes = unsafe greater(lanes, load(levels + index))
      index &+= 8
    }
    var peak = greatest(lanes)
    while index < count {
      peak = unsafe max(peak, levels[index])
      index &+= 1
    }
    return peak
  }

  /// The greatest magnitude of `count` samples; 0 for none.
  @inline(__always)
  static func peakMagnitude(_ samples: UnsafePointer<Float>, count: Int) -> Float {
    var lanes = SIMD8<Float>.zero
    var index = 0
    while index &+ 8 <= count {
      lanes = unsafe greater(lanes, magnitude(load(samples + index)))
      index &+= 8
    }
    var peak = greatest(lanes)
    while index < count {
      peak = unsafe max(peak, samples[index].magnitude)
      index &+= 1
    }
    return peak
  }

  @inline(__always)
  static func load(_ samples: UnsafePointer<Float>) -> SIMD8<Float> {
    unsafe UnsafeRawPointer(samples).loadUnaligned(as: SIMD8<Float>.self)
  }

  @inline(__always)
  static func store(_ value: SIMD8<Float>, at samples: UnsafeMutablePointer<Float>) {
    unsafe UnsafeMutableRawPointer(samples).storeBytes(of: value, as: SIMD8<Float>.self)
  }

  /// |x|, by clearing the sign.
  @inline(__always)
  static func magnitude(_ samples: SIMD8<Float>) -> SIMD8<Float> {
    let bits = unsafe unsafeBitCast(samples, to: SIMD8<UInt32>.self)
    return unsafe unsafeBitCast(
      bits & SIMD8(repeating: 0x7fff_ffff), to: SIMD8<Float>.self)
  }

  @inline(__always)
  static func greater(_ a: SIMD8<Float>, _ b: SIMD8<Float>) -> SIMD8<Float> {
    // Lane by lane this compiles to one instruction; with masks it does not.
    SIMD8(
      greater(a[0], b[0]), greater(a[1], b[1]), greater(a[2], b[2]), greater(a[3], b[3]),
      greater(a[4], b[4]), greater(a[5], b[5]), greater(a[6], b[6]), greater(a[7], b[7]))
  }

  @inline(__always)
  static func greater(_ a: SIMD16<Float>, _ b: SIMD16<Float>) -> SIMD16<Float> {
    a.replacing(with: b, where: b .> a)
  }

  @inline(__always)
  static func lesser(_ a: SIMD8<Float>, _ b: SIMD8<Float>) -> SIMD8<Float> {
    SIMD8(
      lesser(a[0], b[0]), lesser(a[1], b[1]), lesser(a[2], b[2]), lesser(a[3], b[3]),
      lesser(a[4], b[4]), lesser(a[5], b[5]), lesser(a[6], b[6]), lesser(a[7], b[7]))
  }

  /// The greater of two numbers in the operand order of one instruction; the standard library's
  /// `max` also handles NaN.
  @inline(__always)
  static func greater(_ a: Float, _ b: Float) -> Float { b > a ? b : a }

  @inline(__always)
  static func lesser(_ a: Float, _ b: Float) -> Float { b < a ? b : a }

  /// The greatest of eight magnitudes.
  @inline(__always)
  static func greatest(_ lanes: SIMD8<Float>) -> Float {
    // The standard library's reduction is a call.
    greater(
      greater(greater(lanes[0], lanes[4]), greater(lanes[1], lanes[5])),
      greater(greater(lanes[2], lanes[6]), greater(lanes[3], lanes[7])))
  }
}

/// Base-2 logarithm and power of eight values at once, without library calls.
///
/// Both split a number into exponent and mantissa and approximate the mantissa's part with a
/// minimax polynomial. Together they are within 0.0001 dB of the exact values.
enum BinaryLogarithm {
  /// log₂ of positive, finite, normal numbers; absolute error below 4 · 10⁻⁶. Zero and subnormal
  /// numbers give about −127.
  @inline(__always)
  static func log2(_ x: SIMD8<Float>) -> SIMD8<Float> {
    // Mantissas range from 0.75 to 1.5, so that log₂ has no step near 1.
    let bits = unsafe unsafeBitCast(x, to: SIMD8<Int32>.self)
    let exponent = (bits &- SIMD8(repeating: 0x3f40_0000)) &>> SIMD8(repeating: 23)
    let mantissa = unsafe unsafeBitCast(
      bits &- (exponent &<< SIMD8(repeating: 23)), to: SIMD8<Float>.self)
    let t = mantissa - SIMD8(repeating: 1)
    var p = SIMD8<Float>(repeating: -0.145_178_78) * t + SIMD8(repeating: 0.292_726_4)
    p = p * t + SIMD8(repeating: -0.371_069_3)
    p = p * t + SIMD8(repeating: 0.481_645_62)
    p = p * t + SIMD8(repeating: -0.721_094_53)
    p = p * t + SIMD8(repeating: 1.442_681_6)
    return p * t + SIMD8<Float>(exponent)
  }

  /// 2ˣ for −126 ≤ x ≤ 126; relative error below 4 · 10⁻⁶, and exactly 1 for |x| below 2⁻²⁶.
  @inline(__always)
  static func exp2(_ x: SIMD8<Float>) -> SIMD8<Float> {
    // Adding 1.5 · 2²³ rounds to an integer and leaves it in the low bits.
    let shift = SIMD8<Float>(repeating: 12_582_912)
    let shifted = x + shift
    let f = x - (shifted - shift)
    var p = SIMD8<Float>(repeating: 0.009_582_852) * f + SIMD8(repeating: 0.055_906_426)
    p = p * f + SIMD8(repeating: 0.240_240_99)
    p = p * f + SIMD8(repeating: 0.693_124_2)
    p = p * f + SIMD8(repeating: 1)
    let whole = unsafe unsafeBitCast(shifted, to: SIMD8<Int32>.self) &<< SIMD8(repeating: 23)
    return unsafe unsafeBitCast(
      unsafeBitCast(p, to: SIMD8<Int32>.self) &+ whole, to: SIMD8<Float>.self)
  }
}

import AudioModel

/// The level that gate and compressor listen to: the greatest magnitude among all channels at each
/// frame, so that every channel gets the same gain and the stereo image stays where it is.
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
    // Lane by lane the compiler finds the processor's own instruction; with masks it does not.
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

  /// The greater of two numbers, in the order that is one instruction: the standard library's own
  /// asks more questions.
  @inline(__always)
  static func greater(_ a: Float, _ b: Float) -> Float { b > a ? b : a }

  @inline(__always)
  static func lesser(_ a: Float, _ b: Float) -> Float { b < a ? b : a }

  /// The greatest of eight magnitudes.
  @inline(__always)
  static func greatest(_ lanes: SIMD8<Float>) -> Float {
    // The standard library's own search is a call.
    greater(
      greater(greater(lanes[0], lanes[4]), greater(lanes[1], lanes[5])),
      greater(greater(lanes[2], lanes[6]), greater(lanes[3], lanes[7])))
  }
}

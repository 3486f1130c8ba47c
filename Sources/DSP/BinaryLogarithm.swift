/// Base-2 logarithm and power for eight levels at once, without a call to the maths library.
///
/// Both split a number into exponent and mantissa and replace the rest of the work by a polynomial
/// fitted for the least greatest error (minimax) over the mantissa's range. Together they are
/// within 0.0001 dB of the exact values.
enum BinaryLogarithm {
  /// log₂ of positive, finite, normal numbers; absolute error below 4 · 10⁻⁶. Zero and subnormal
  /// numbers give about −127.
  @inline(__always)
  static func log2(_ x: SIMD8<Float>) -> SIMD8<Float> {
    // Mantissas are taken from 0.75 to 1.5, so that log₂ has no jump where levels are near 1.
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
    // Adding 1.5 · 2²³ rounds to a whole number and leaves it in the low bits.
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

@testable import Audio
import Foundation
import Testing

@Suite struct BinaryLogarithmTests {
  @Test func `the logarithm is exact to 4 millionths, also across powers of two`() {
    var worst = 0.0
    for exponent in stride(from: -30.0, through: 4, by: 0.0101) {
      let x = Float(pow(2, exponent))
      let result = BinaryLogarithm.log2(SIMD8(repeating: x))
      worst = max(worst, abs(Double(result[3]) - log2(Double(x))))
    }
    #expect(worst < 4e-6)
  }

  @Test func `the power is exact to 4 millionths`() {
    var worst = 0.0
    for exponent in stride(from: -40.0, through: 10, by: 0.0113) {
      let x = Float(exponent)
      let result = BinaryLogarithm.exp2(SIMD8(repeating: x))
      worst = max(worst, abs(Double(result[5]) / pow(2, Double(x)) - 1))
    }
    #expect(worst < 4e-6)
  }

  @Test func `two to the power of nearly nothing is exactly 1`() {
    for x in [0, 1e-9, -1e-9, -1e-30] as [Float] {
      #expect(BinaryLogarithm.exp2(SIMD8(repeating: x))[0] == 1)
    }
  }

  @Test func `the logarithm of zero is far below any level`() {
    #expect(BinaryLogarithm.log2(SIMD8(repeating: 0))[0] < -120)
  }
}

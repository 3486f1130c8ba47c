import TestSupport
import Testing

@testable import DSP

@Suite struct FiniteSamplesTests {
  @Test(arguments: 0...19)
  func `only NaN and the infinities become 0, at any place of a run`(count: Int) {
    let kinds: [Float] = [
      .nan, 1, .infinity, -0.0, -.infinity, .leastNonzeroMagnitude, .signalingNaN, -0.7,
      .greatestFiniteMagnitude,
    ]
    let source = (0..<count).map { kinds[$0 % kinds.count] }
    // One more at the end, which must stay untouched.
    let target = Scratch<Float>(repeating: 42, count: count + 1)
    unsafe source.withUnsafeBufferPointer {
      guard let start = $0.baseAddress else { return }
      unsafe FiniteSamples.copy(from: start, to: target.start, count: count)
    }
    for index in 0..<count {
      let expected = source[index].isFinite ? source[index] : 0
      #expect(target[index].bitPattern == expected.bitPattern)
    }
    #expect(target[count] == 42)
  }
}

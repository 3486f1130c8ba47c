@testable import Audio
import TestSupport
import Testing

@Suite struct FiniteSamplesTests {
  @Test(arguments: 0...23)
  func `only what cannot be sound becomes 0, at any place of a run`(count: Int) {
    let kinds: [Float] = [
      .nan, 1, .infinity, -0.0, -.infinity, .leastNonzeroMagnitude, .signalingNaN, -0.7,
      .greatestFiniteMagnitude, 0x1p64, -0x1.fffffep63,
    ]
    let source = (0..<count).map { kinds[$0 % kinds.count] }
    // One more at the end, which must stay untouched.
    let target = Scratch<Float>(repeating: 42, count: count + 1)
    unsafe source.withUnsafeBufferPointer {
      guard let start = $0.baseAddress else { return }
      unsafe FiniteSamples.copy(from: start, to: target.start, count: count)
    }
    for index in 0..<count {
      let expected = source[index].magnitude < 0x1p64 ? source[index] : 0
      #expect(target[index].bitPattern == expected.bitPattern)
    }
    #expect(target[count] == 42)
  }
}

@testable import Audio
import TestSupport
import Testing

@Suite struct SlidingMinimumTests {
  @Test(arguments: [1, 2, 7, 50])
  func `is the least of the window`(window: Int) {
    var random = SeededRandom(seed: UInt64(window))
    let values = (0..<600).map { index in
      index % 97 < 60 ? Float.random(in: 0.1...1.5, using: &random) : 1
    }.map { min($0, 1) }
    var minimum = SlidingMinimum(window: window)
    for index in values.indices {
      let expected = values[max(0, index - window + 1)...index].min() ?? 1
      let result = minimum.push(values[index], index: index)
      #expect(result == expected)
      #expect(minimum.isAtRest == (expected == 1))
    }
  }
}

import Audio
import Foundation
@testable import Media
import Testing

@Suite("A sample writer")
struct SampleWriterTests {
  @Test(
    "rounds to the nearest integer as the mathematics library does", arguments: [0x1p15, 0x1p23])
  func rounding(scale: Double) {
    var samples = (-2000...2000).map { Float(Double($0) / 1000 * 1.01) }
    samples += (-64...64).map { Float((Double($0) + 0.5) / scale) }
    samples += [.infinity, -.infinity, .leastNonzeroMagnitude, -0.0, 1, -1]
    for sample in samples {
      let exact = (Double(sample) * scale).rounded(.toNearestOrEven)
      let expected = Int32(max(-scale, min(exact, scale - 1)))
      #expect(SampleWriter.integer(sample, scale: scale) == expected)
    }
  }

  @Test("keeps within range whatever is not a number")
  func notANumber() {
    #expect(abs(Int(SampleWriter.integer(.nan, scale: 0x1p15))) <= 1 << 15)
  }
}

import Audio
import Foundation
import Media
import TestSupport
import Testing

@Suite struct LibraryTransformTests {
  @Test(arguments: [16, 512, 2048, 8192])
  func `the powers are those of the sums that define them`(length: Int) throws {
    let sound = TestSound.noise(
      AudioFormat(sampleRate: Hertz(48_000), channelCount: 1), frames: length)
    let samples = sound.channels[0]
    let transform = try LibraryTransform(length: length)
    #expect(transform.length == length)
    var powers = [Float](repeating: -1, count: length / 2 + 1)
    // Twice, for nothing may be left of the first time.
    for _ in 0..<2 {
      var span = powers.mutableSpan
      transform.transform(samples.span, into: &span)
    }
    let total = powers.reduce(0, +)
    for bin in stride(from: 0, through: length / 2, by: max(1, length / 64)) {
      let step = -2 * Double.pi * Double(bin) / Double(length)
      var (real, imaginary) = (0.0, 0.0)
      for (index, sample) in samples.enumerated() {
        real += Double(sample) * cos(step * Double(index))
        imaginary += Double(sample) * sin(step * Double(index))
      }
      let expected = real * real + imaginary * imaginary
      #expect(abs(Double(powers[bin]) - expected) < 1e-5 * Double(total))
    }
  }
}

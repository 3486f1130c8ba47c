@testable import Platform
import Testing

@Suite struct ChecksumTests {
  @Test("is XXH3's: what its own program prints for these bytes")
  func vectors() {
    #expect(Checksum().value == 0x2D06_8005_38D3_94C2)
    #expect(unsafe Checksum.of(Array("abc".utf8).span.bytes) == 0x78AF_5F94_892F_3950)
  }

  @Test("does not depend on how the bytes are cut")
  func cuts() {
    let bytes = (0..<5000).map { UInt8(truncatingIfNeeded: $0 * $0 >> 3) }
    let whole = unsafe Checksum.of(bytes.span.bytes)
    for cut in [0, 1, 64, 255, 256, 1023, 4999, 5000] {
      var checksum = Checksum()
      unsafe checksum.update(bytes.span.bytes.extracting(..<cut))
      _ = checksum.value
      unsafe checksum.update(bytes.span.bytes.extracting(cut...))
      #expect(checksum.value == whole, "cut at \(cut)")
    }
  }

  @Test("sees every flipped bit of a short text")
  func flippedBits() {
    let text = Array("a checksum of work under way".utf8)
    let right = unsafe Checksum.of(text.span.bytes)
    for bit in 0..<text.count * 8 {
      var wrong = text
      wrong[bit / 8] ^= 1 << (bit % 8)
      #expect(unsafe Checksum.of(wrong.span.bytes) != right, "bit \(bit)")
    }
  }
}

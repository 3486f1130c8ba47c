@testable import Media
import Testing

@Suite("Strange bytes between MP3 frames")
struct StrangeBytesTests {
  /// A frame of 128 kbit/s at 48 kHz, 384 bytes and 1152 samples long; MPEG-1 layer III.
  static let frame = [0xFF, 0xFB, 0x94, 0x00] + [UInt8](repeating: 0, count: 380)

  /// What is missing before each packet; those that are whole frames are decoded.
  func gaps(_ packets: [[UInt8]]) -> [Int?] {
    var bytes = StrangeBytes()
    return packets.map { packet in
      let gap = unsafe packet.withUnsafeBytes { unsafe bytes.gap(before: $0) }
      if packet.first == 0xFF { bytes.give(1152) }
      return gap
    }
  }

  @Test("are counted as the frames that must have been there, those that were decoded left out")
  func count() {
    let broken = [UInt8](repeating: 7, count: 748)
    #expect(
      gaps([Self.frame, Self.frame, broken, broken, Self.frame]) == [nil, nil, nil, nil, 4608])
    let longer = Self.frame + [UInt8](repeating: 7, count: 384)
    #expect(gaps([Self.frame, longer, Self.frame, Self.frame]) == [nil, nil, 1152, nil])
  }

  @Test("are no loss before the first frame, behind the last, or where they are a tag")
  func noLoss() {
    let junk = [UInt8](repeating: 7, count: 5000)
    #expect(gaps([junk, Self.frame, Self.frame, junk]) == [nil, nil, nil, nil])
    let tagged = Self.frame + Array("ID3".utf8) + junk
    #expect(gaps([Self.frame, tagged, junk, Self.frame, Self.frame]) == [nil, nil, nil, nil, nil])
  }
}

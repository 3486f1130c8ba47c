@testable import Media
import Testing

@Suite("A packet writer")
struct PacketWriterTests {
  @Test("puts the highest bit first, and pads with zeros")
  func order() {
    var writer = PacketWriter(byteCount: 8)
    #expect(writer.wholeBytes == [])
    writer.append(0b101, count: 3)
    #expect(writer.wholeBytes == [0b1010_0000])
    writer.append(0, count: 0)
    writer.append(0x8000_0001, count: 32)
    #expect(writer.wholeBytes == [0b1011_0000, 0, 0, 0, 0b0010_0000])
    writer.append(0b11111, count: 5)
    #expect(writer.wholeBytes == [0b1011_0000, 0, 0, 0, 0b0011_1111])
    #expect(writer.bitCount == 40)
  }
}

@testable import Media
import Testing

@Suite("A WAV header")
struct WaveHeaderTests {
  private func number(_ bytes: [UInt8], at offset: Int, _ count: Int) -> UInt64 {
    bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private func text(_ bytes: [UInt8], at offset: Int) -> String {
    String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
  }

  private let header: WaveHeader = {
    var header = WaveHeader()
    header.append("fmt ", WaveBytes.format)
    header.append("iXML", [1, 2, 3])
    return header
  }()

  @Test("counts chunks with their padding, and that of the samples")
  func short() {
    let bytes = header.bytes(dataByteCount: 5, blockByteCount: 1)
    #expect(bytes.count == 12 + 24 + 12 + 8)
    #expect(text(bytes, at: 0) == "RIFF")
    #expect(number(bytes, at: 4, 4) == UInt64(bytes.count - 8 + 6))
    #expect(text(bytes, at: 8) == "WAVE")
    #expect(text(bytes, at: 36) == "iXML")
    #expect(number(bytes, at: 40, 4) == 3)
    #expect(Array(bytes[44..<48]) == [1, 2, 3, 0])
    #expect(text(bytes, at: 48) == "data")
    #expect(number(bytes, at: 52, 4) == 5)
  }

  @Test("is RF64 beyond 4 GB, with its lengths in 64 bits")
  func long() {
    let count = 5 << 30
    let bytes = header.bytes(dataByteCount: count, blockByteCount: 6)
    #expect(bytes.count == 12 + 36 + 24 + 12 + 8)
    #expect(text(bytes, at: 0) == "RF64")
    #expect(number(bytes, at: 4, 4) == 0xFFFF_FFFF)
    #expect(text(bytes, at: 12) == "ds64")
    #expect(number(bytes, at: 16, 4) == 28)
    #expect(number(bytes, at: 20, 8) == UInt64(bytes.count - 8 + count))
    #expect(number(bytes, at: 28, 8) == UInt64(count))
    #expect(number(bytes, at: 36, 8) == UInt64(count / 6))
    #expect(number(bytes, at: 44, 4) == 0)
    #expect(text(bytes, at: 48) == "fmt ")
    #expect(text(bytes, at: bytes.count - 8) == "data")
    #expect(number(bytes, at: bytes.count - 4, 4) == 0xFFFF_FFFF)
  }

  @Test("is RIFF up to the very last length that RIFF has room for")
  func boundary() {
    let rest = header.bytes(dataByteCount: 0, blockByteCount: 2).count - 8
    let most = 0xFFFF_FFFE - rest
    #expect(text(header.bytes(dataByteCount: most, blockByteCount: 2), at: 0) == "RIFF")
    #expect(text(header.bytes(dataByteCount: most + 2, blockByteCount: 2), at: 0) == "RF64")
  }
}

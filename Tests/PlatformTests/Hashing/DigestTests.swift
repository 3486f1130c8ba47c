import Foundation
import Platform
import Testing

@Suite struct DigestTests {
  private let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

  @Test("reads what it writes, as digits and as bytes")
  func roundTrip() throws {
    let digest = try #require(Digest(hex: abc))
    #expect(digest.hex == abc)
    #expect(digest.bytes.first == 0xba && digest.bytes.last == 0xad && digest.bytes.count == 32)
    #expect(Digest(bytes: digest.bytes) == digest)
    #expect(digest.short == "ba7816bf8f01")
    #expect("\(digest)" == abc)
  }

  @Test(
    "refuses what is no digest",
    arguments: [
      "", "ba78", String(repeating: "0", count: 63), String(repeating: "0", count: 65),
      String(repeating: "0", count: 66), String(repeating: "A", count: 64),
      String(repeating: "g", count: 64), String(repeating: "é", count: 32),
    ])
  func refused(text: String) {
    #expect(Digest(hex: text) == nil)
  }

  @Test("refuses any number of bytes but 32", arguments: [0, 31, 33, 64])
  func refusedBytes(count: Int) {
    #expect(Digest(bytes: [UInt8](repeating: 0, count: count)) == nil)
  }

  @Test("sorts as its digits do")
  func order() throws {
    let digests = (0..<200).map { SHA256.digest(of: "\($0)") }
    #expect(digests.sorted().map(\.hex) == digests.map(\.hex).sorted())
  }

  @Test("is a bare string in JSON, and nothing else is read as one")
  func json() throws {
    let digest = try #require(Digest(hex: abc))
    let text = String(decoding: try JSONEncoder().encode([digest]), as: UTF8.self)
    #expect(text == "[\"\(abc)\"]")
    #expect(try JSONDecoder().decode([Digest].self, from: Data(text.utf8)) == [digest])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([Digest].self, from: Data(#"["ba78"]"#.utf8))
    }
  }
}

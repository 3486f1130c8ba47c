import Foundation
@testable import Media
import Testing

@Suite("The running MD5")
struct MD5Tests {
  @Test("gives what RFC 1321 says")
  func vectors() {
    let vectors = [
      "": "d41d8cd98f00b204e9800998ecf8427e",
      "abc": "900150983cd24fb0d6963f7d28e17f72",
      "message digest": "f96b697d7cb7938d525a2f31aaf161d0",
      "12345678901234567890123456789012345678901234567890123456789012345678901234567890":
        "57edf4a22be3c955ac49da2e2107b67a",
    ]
    for (text, digest) in vectors {
      var md5 = MD5()
      md5.update(Array(text.utf8))
      #expect(md5.digest == Self.bytes(digest))
      #expect(md5.digest == Self.bytes(digest), "looking changes nothing")
    }
  }

  @Test("goes on from its state in another process", arguments: [0, 1, 55, 64, 100, 1000])
  func state(_ cut: Int) throws {
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * $0) }
    var whole = MD5()
    whole.update(bytes)
    var first = MD5()
    first.update(Array(bytes[..<cut]))
    let json = try JSONEncoder().encode(first)
    var second = try JSONDecoder().decode(MD5.self, from: json)
    second.update(Array(bytes[cut...]))
    #expect(second.digest == whole.digest)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(MD5.self, from: Data("[1,2]".utf8))
    }
  }

  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map {
      UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
  }
}

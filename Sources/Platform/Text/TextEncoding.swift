/// The encoding of a file that does not name it.
package enum TextEncoding {
  /// A file's text in UTF-8, without a byte order mark. What is neither UTF-8 nor UTF-16 with a byte order
  /// mark is taken for Windows-1252, a superset of Latin-1, and what is spoilt UTF-8 is mended. O(n).
  package static func utf8(of file: [UInt8]) -> [UInt8] {
    if file.starts(with: [0xff, 0xfe]) { return utf16(file.dropFirst(2), high: 1) }
    if file.starts(with: [0xfe, 0xff]) { return utf16(file.dropFirst(2), high: 0) }
    let body = file.starts(with: [0xef, 0xbb, 0xbf]) ? Array(file.dropFirst(3)) : file
    guard String(validating: body, as: UTF8.self) == nil else { return body }
    let mended = String(decoding: body, as: UTF8.self)
    // A valid multi-byte sequence is very unlikely in Windows-1252, while recognisers split
    // characters at token boundaries.
    let isDamagedUTF8 = mended.unicodeScalars.contains { $0.value >= 0x80 && $0 != "\u{fffd}" }
    return isDamagedUTF8 ? Array(mended.utf8) : windows1252(body)
  }

  private static func utf16(_ body: ArraySlice<UInt8>, high: Int) -> [UInt8] {
    var units: [UInt16] = []
    units.reserveCapacity(body.count / 2)
    for index in stride(from: body.startIndex, to: body.endIndex - 1, by: 2) {
      units.append(UInt16(body[index + high]) << 8 | UInt16(body[index + 1 - high]))
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }

  private static func windows1252(_ body: [UInt8]) -> [UInt8] {
    var text = String.UnicodeScalarView()
    for byte in body {
      let isSpecial = (0x80..<0xa0).contains(byte)
      text.append(isSpecial ? special[Int(byte) - 0x80] : Unicode.Scalar(byte))
    }
    return Array(String(text).utf8)
  }

  /// Windows-1252 where Latin-1 has control characters; five places are empty.
  private static let special: [Unicode.Scalar] = [
    "€", "\u{fffd}", "‚", "ƒ", "„", "…", "†", "‡", "ˆ", "‰", "Š", "‹", "Œ", "\u{fffd}", "Ž",
    "\u{fffd}", "\u{fffd}", "‘", "’", "“", "”", "•", "–", "—", "˜", "™", "š", "›", "œ", "\u{fffd}",
    "ž", "Ÿ",
  ]
}

/// Reads which samples a FLAC frame holds, and whether it is all there (RFC 9639, section 9).
struct FLACHeader {
  /// The samples in each block but the last, by the stream's head; for streams whose frames are
  /// numbered.
  let blockSize: Int

  /// The samples of the frame that begins the bytes; nil where no frame does, which its header's own
  /// check tells.
  func samples(of bytes: ArraySlice<UInt8>) -> Range<Int>? {
    let bytes = Array(bytes.prefix(16))
    guard bytes.count >= 6, bytes[0] == 0xff, bytes[1] & 0xfe == 0xf8, bytes[3] & 1 == 0,
      let (number, numberCount) = Self.number(bytes[4...])
    else { return nil }
    var end = 4 + numberCount
    func taken(_ count: Int) -> Int? {
      guard end + count <= bytes.count else { return nil }
      defer { end += count }
      return bytes[end..<end + count].reduce(0) { $0 << 8 | Int($1) }
    }
    let size: Int?
    switch bytes[2] >> 4 {
    case 0: size = nil
    case 1: size = 192
    case 6: size = taken(1).map { $0 + 1 }
    case 7: size = taken(2).map { $0 + 1 }
    case let code where code < 6: size = 144 << Int(code)
    case let code: size = 1 << Int(code)
    }
    switch bytes[2] & 15 {
    case 12: _ = taken(1)
    case 13, 14: _ = taken(2)
    case 15: return nil
    default: break
    }
    guard let size, end < bytes.count, Self.check8(bytes[..<end]) == bytes[end] else { return nil }
    let isCounted = bytes[1] & 1 != 0
    let first = isCounted ? number : number * blockSize
    return first..<first + size
  }

  /// Whether the bytes from a frame's beginning on end with the check of all before: a frame that is
  /// cut off does not.
  static func isWhole(_ bytes: ArraySlice<UInt8>) -> Bool {
    var check: UInt16 = 0
    for byte in bytes {
      check ^= UInt16(byte) << 8
      for _ in 0..<8 { check = check & 0x8000 != 0 ? check << 1 ^ 0x8005 : check << 1 }
    }
    return check == 0
  }

  private static func check8(_ bytes: ArraySlice<UInt8>) -> UInt8 {
    bytes.reduce(UInt8(0)) { check, byte in
      (0..<8).reduce(check ^ byte) { check, _ in check & 0x80 != 0 ? check << 1 ^ 7 : check << 1 }
    }
  }

  /// A number in one to seven bytes, as UTF-8 once had them.
  private static func number(_ bytes: ArraySlice<UInt8>) -> (Int, byteCount: Int)? {
    guard let first = bytes.first else { return nil }
    let count = (~first).leadingZeroBitCount
    if count == 0 { return (Int(first), 1) }
    guard (2...7).contains(count), bytes.count >= count else { return nil }
    var number = Int(first & UInt8(truncatingIfNeeded: 0x7f >> count))
    for byte in bytes.dropFirst().prefix(count - 1) {
      guard byte & 0xc0 == 0x80 else { return nil }
      number = number << 6 | Int(byte & 0x3f)
    }
    return (number, count)
  }
}

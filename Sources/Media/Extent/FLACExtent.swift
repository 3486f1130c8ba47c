/// FLAC (RFC 9639): the header declares the number of samples, and each frame its position, so the
/// last frame shows whether the file is complete.
extension ContainerBytes {
  /// What the stream that begins at `start`, behind a tag that some programs prepend, implies.
  func flacExtent(from start: Int) -> ContainerExtent {
    var offset = start + 4
    var isLast = false
    while !isLast {
      guard byteCount - offset >= 4 else { return .incomplete("its head is cut off") }
      isLast = big(at: offset, count: 1) & 0x80 != 0
      offset += 4 + big(at: offset + 1, count: 3)
      guard offset <= byteCount else { return .incomplete("its head is cut off") }
    }
    let total = big(at: start + 21, count: 5) & 0xf_ffff_ffff
    // Streams to a pipe have no count.
    return total > 0 ? lastFrame(of: total, from: offset, start) : .whole
  }

  /// Searches backwards for the frame with the last sample.
  private func lastFrame(
    of total: Int, from soundStart: Int, _ start: Int
  ) -> ContainerExtent {
    let window = tail(from: soundStart)
    let header = FLACHeader(blockSize: big(at: start + 10, count: 2))
    // Frame bytes may look like a header; only a whole last frame is certain.
    var last: Range<Int>?
    for place in stride(from: window.count - 6, through: 0, by: -1) {
      guard window[place] == 0xff, window[place + 1] & 0xfe == 0xf8,
        let samples = header.samples(of: window[place...]), samples.upperBound <= total
      else { continue }
      if samples.upperBound == total, FLACHeader.isWhole(window[place...]) { return .whole }
      last = last ?? samples
    }
    return .incomplete(
      "it declares \(total) samples of each channel, "
        + (last.map { "and about \(total - $0.lowerBound) of them are missing" }
          ?? "and has no frame of them"))
  }

  /// The last bytes of the sound, without trailing tags. A frame has at most 4 MiB.
  private func tail(from soundStart: Int) -> [UInt8] {
    var end = byteCount
    if end - soundStart >= 128, bytes(at: end - 128, count: 3) == Array("TAG".utf8) {
      end -= 128
    }
    if end - soundStart >= 32, bytes(at: end - 32, count: 8) == Array("APETAGEX".utf8) {
      let hasHead = little(at: end - 12, count: 4) & 0x8000_0000 != 0
      end = max(soundStart, end - little(at: end - 20, count: 4) - (hasHead ? 32 : 0))
    }
    let first = max(soundStart, end - (4 << 20))
    return bytes(at: first, count: end - first)
  }
}

/// Reads a FLAC frame's sample range, and checks that it is complete (RFC 9639, section 9).
struct FLACHeader {
  /// The block size in the stream header, for streams with frame numbers.
  let blockSize: Int

  /// The samples of the frame at the start of the bytes; nil if there is none, by the header's CRC.
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

  /// Whether the bytes end with the CRC of all before.
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

  /// A number in the extended UTF-8 code of one to seven bytes.
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

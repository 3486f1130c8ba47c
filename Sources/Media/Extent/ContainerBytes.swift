internal import Glibc

/// Random access to a container file. Bytes beyond its end or unreadable ones are zero.
struct ContainerBytes {
  let descriptor: CInt
  let byteCount: Int

  func bytes(at offset: Int, count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let read = unsafe bytes.withUnsafeMutableBytes { buffer in
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
        return unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
      }
      guard read > 0 else { break }
      done += read
    }
    return bytes
  }

  /// Four characters, with question marks for non-ASCII ones.
  func word(at offset: Int) -> String {
    String(
      String.UnicodeScalarView(
        bytes(at: offset, count: 4).map {
          Unicode.Scalar((0x20..<0x7f).contains($0) ? $0 : 0x3f)
        }))
  }

  /// A big-endian number; saturates at `Int.max`.
  func big(at offset: Int, count: Int) -> Int { Self.number(bytes(at: offset, count: count)) }

  /// A little-endian number.
  func little(at offset: Int, count: Int) -> Int {
    Self.number(bytes(at: offset, count: count).reversed())
  }

  private static func number(_ bytes: some Collection<UInt8>) -> Int {
    Int(clamping: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}

import Glibc

/// Where the frames of a FLAC file begin: behind the blocks that describe them (RFC 9639, section 8).
enum FLACBlocks {
  /// More blocks than any program writes.
  private static let mostBlocks = 1024

  /// The place of the first frame in bytes; nil where the file is no FLAC file of whole blocks.
  static func framesStart(in file: borrowing RawFile) throws(MediaError) -> Int? {
    let size = try file.byteCount
    guard size > 8, try file.read(4, at: 0) == Array("fLaC".utf8) else { return nil }
    var start = 4
    for _ in 0..<mostBlocks {
      guard start + 4 <= size else { return nil }
      let head = try file.read(4, at: start)
      start += 4 + (Int(head[1]) << 16 | Int(head[2]) << 8 | Int(head[3]))
      if head[0] & 0x80 != 0 { return start <= size ? start : nil }
    }
    return nil
  }
}

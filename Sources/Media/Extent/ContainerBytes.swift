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

/// The first bytes of a file, for what libavformat does not report.
struct FileHead {
  private var bytes = [UInt8](repeating: 0, count: 16)
  private var fileSize = 0

  /// Unreadable bytes are zero.
  init(path: String) {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    _ = unsafe read(file, &bytes, bytes.count)
    var status = stat()
    if unsafe fstat(file, &status) == 0 { fileSize = Int(status.st_size) }
  }

  func text(at offset: Int, count: Int) -> String {
    String(decoding: bytes[offset..<offset + count], as: UTF8.self)
  }

  /// How many bytes a WAV file lacks of its declared size; 0 for other files and for streams to a
  /// pipe, whose size was never filled in.
  var missingRIFFBytes: Int {
    guard text(at: 0, count: 4) == "RIFF", text(at: 8, count: 4) == "WAVE" else { return 0 }
    let size = bytes[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
    guard size != 0xffff_ffff else { return 0 }
    return max(0, size + 8 - fileSize)
  }
}

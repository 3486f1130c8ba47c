import Glibc

/// The first bytes of a file, for what libavformat does not tell about it.
struct FileHead {
  private var bytes = [UInt8](repeating: 0, count: 16)
  private var fileSize = 0

  /// Reads them; what cannot be read is zero.
  init(path: String) {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    _ = unsafe read(file, &bytes, bytes.count)
    var status = stat()
    if unsafe fstat(file, &status) == 0 { fileSize = Int(status.st_size) }
  }

  /// The characters from an offset on.
  func text(at offset: Int, count: Int) -> String {
    String(decoding: bytes[offset..<offset + count], as: UTF8.self)
  }

  /// How many bytes a WAV file lacks of the size in its header; 0 for other files and for those
  /// that were written to a pipe, whose size was never filled in.
  var missingRIFFBytes: Int {
    guard text(at: 0, count: 4) == "RIFF", text(at: 8, count: 4) == "WAVE" else { return 0 }
    let size = bytes[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
    guard size != 0xffff_ffff else { return 0 }
    return max(0, size + 8 - fileSize)
  }
}

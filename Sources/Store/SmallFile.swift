import Glibc

/// The kernel's own small files.
enum SmallFile {
  /// The text of a file whose length is not known before; nil if it cannot be read.
  static func text(at path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    let file = OpenFile(descriptor: descriptor, path: path)
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16384)
    while text.count < 4 << 20 {
      let count = unsafe read(file.descriptor, &piece, piece.count)
      if count <= 0 { break }
      text += piece[..<count]
    }
    return String(decoding: text, as: UTF8.self)
  }
}

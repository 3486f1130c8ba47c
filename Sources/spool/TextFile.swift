import Glibc

/// Small text files outside the store.
enum TextFile {
  /// The longest pipeline that is read.
  private static let maximumByteCount = 4 << 20

  /// The text of a file.
  static func read(_ path: String) throws(TextFileError) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw TextFileError() }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = unsafe Glibc.read(descriptor, &block, block.count)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      guard count > 0 else { throw TextFileError() }
      bytes += block[..<count]
      guard bytes.count <= maximumByteCount else {
        throw TextFileError(reason: "it is longer than any pipeline")
      }
    }
  }

  /// Writes a file that is not there yet.
  static func create(_ path: String, _ text: String) throws(TextFileError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw TextFileError() }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard unsafe write(descriptor, bytes, bytes.count) == bytes.count else {
      throw TextFileError()
    }
  }
}

/// Why a file could not be read or written, in the system's words.
struct TextFileError: Error {
  let reason: String

  init(reason: String = unsafe String(cString: strerror(errno))) { self.reason = reason }
}

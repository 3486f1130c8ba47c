internal import Glibc

/// A file beside a receipt that is read from its beginning, piece by piece.
struct SubjectReader: ~Copyable {
  /// How long it was when it was opened.
  let byteCount: Int
  private let descriptor: Int32

  init(_ file: SubjectFile) throws(SubjectFile.Trouble) {
    (descriptor, byteCount) = try file.open().get()
  }

  deinit { close(descriptor) }

  /// The next bytes; throws where there are fewer.
  func read(_ count: Int) throws(SubjectFile.Trouble) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let more = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(descriptor, buffer.baseAddress?.advanced(by: filled), count - filled)
      }
      if more < 0, errno == EINTR { continue }
      guard more > 0 else {
        throw SubjectFile.Trouble(
          reason: more == 0 ? "it ends too early" : SubjectFile.reason(errno))
      }
      filled += more
    }
    return bytes
  }
}

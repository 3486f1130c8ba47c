internal import Glibc
internal import Hashing

extension ArrivedFile {
  /// The digest of all its bytes, and how many there were: read through the open file, so that it
  /// is one file's whatever is renamed meanwhile.
  func digest() throws(CustodyError) -> (digest: Digest, byteCount: Int) {
    var hash = SHA256()
    var count = 0
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    let number = descriptor
    do throws(SystemError) {
      while true {
        let read = try SystemError.check {
          unsafe piece.withUnsafeMutableBytes { buffer in
            unsafe pread(number, buffer.baseAddress, buffer.count, off_t(count))
          }
        }
        if read == 0 { return (hash.finalize(), count) }
        unsafe hash.update(piece.span.bytes.extracting(..<read))
        count += read
      }
    } catch {
      throw CustodyError("read", path.description, error)
    }
  }
}

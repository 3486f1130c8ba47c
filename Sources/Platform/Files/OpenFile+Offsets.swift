import Glibc

extension OpenFile {
  /// Fills `bytes` from `offset`.
  /// - Returns: the number of bytes; fewer if the file ends before.
  package func fill(
    _ bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(SystemError) -> Int {
    var done = 0
    while done < bytes.count {
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
      let count = try SystemError.check {
        unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
      }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Writes all of `bytes`, from `offset` on.
  package func put(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
      done += try SystemError.check {
        unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
      }
    }
  }
}

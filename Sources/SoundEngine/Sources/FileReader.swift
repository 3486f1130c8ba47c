import Glibc
package import Platform

/// A file that is read from its beginning.
package final class FileReader {
  private let descriptor: Int32
  private let path: String

  package init(_ path: String) throws(SpoolError) {
    self.path = path
    descriptor = try doing("open", path) { () throws(SystemError) in
      try SystemError.check { unsafe open(path, O_RDONLY | O_CLOEXEC) }
    }
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
  }

  deinit { close(descriptor) }

  /// Moves to `offset` bytes from the beginning.
  package func seek(to offset: Int) throws(SpoolError) {
    try move(offset, SEEK_SET)
  }

  /// The next `count` bytes; fewer is an error.
  package func read(_ count: Int) throws(SpoolError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var raw = unsafe span.mutableBytes
    try fill(&raw, count: count)
    return bytes
  }

  /// The next `count` floats, into the beginning of `samples`.
  package func read(into samples: inout [Float], count: Int) throws(SpoolError) {
    var span = samples.mutableSpan
    var raw = unsafe span.mutableBytes
    try fill(&raw, count: 4 * count)
  }

  /// Skips `count` bytes.
  package func skip(_ count: Int) throws(SpoolError) {
    try move(count, SEEK_CUR)
  }

  private func move(_ offset: Int, _ origin: Int32) throws(SpoolError) {
    try doing("read", path) { () throws(SystemError) in
      _ = try SystemError.check { lseek(descriptor, offset, origin) }
    }
  }

  private func fill(_ bytes: inout MutableRawSpan, count wanted: Int) throws(SpoolError) {
    precondition(wanted <= bytes.byteCount)
    var done = 0
    while done < wanted {
      let count = unsafe bytes.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress?.advanced(by: done), wanted - done)
      }
      if count > 0 {
        done += count
      } else if count == 0 || errno != EINTR {
        throw count == 0
          ? SpoolError(
            "read", path, reason: "it ends too early",
            advice: "\(command: .repair) sets it aside, and it is made again")
          : SpoolError(
            "read", path, SystemError.last,
            advice:
              "the disk may be failing: dmesg says more; \(command: .check) says what else is "
              + "hit")
      }
    }
  }
}

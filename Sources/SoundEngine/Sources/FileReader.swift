import Glibc
package import Platform

/// A file that is read from its beginning.
package final class FileReader {
  private let file: OpenFile
  // Where the next bytes are.
  private var offset = 0

  package init(_ path: String) throws(SpoolError) {
    file = try doing("open", path) { () throws(SystemError) in
      try FileOperations.system.open(path, O_RDONLY)
    }
    file.expectSequentialReading()
  }

  /// Moves to `offset` bytes from the beginning.
  package func seek(to offset: Int) { self.offset = offset }

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
  package func skip(_ count: Int) { offset += count }

  private func fill(_ bytes: inout MutableRawSpan, count wanted: Int) throws(SpoolError) {
    precondition(wanted <= bytes.byteCount)
    let count = try unsafe bytes.withUnsafeMutableBytes { (bytes) throws(SpoolError) in
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<wanted])
      let advice =
        "the disk may be failing: dmesg says more; \(command: .check) says what else is hit"
      return try doing("read", file.path, advice: advice) { () throws(SystemError) in
        try unsafe file.fill(part, at: offset)
      }
    }
    guard count == wanted else {
      throw SpoolError(
        "read", file.path, reason: "it ends too early",
        advice: "\(command: .repair) sets it aside, and it is made again")
    }
    offset += wanted
  }
}

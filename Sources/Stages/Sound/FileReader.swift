import Glibc
import PipelineModel

/// A file that is read from its beginning.
final class FileReader {
  private let descriptor: Int32
  private let path: String

  init(_ path: String) throws(StageError) {
    self.path = path
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw StageError(
        "cannot open \(path)", reason: unsafe String(cString: strerror(errno)),
        cause: .environment)
    }
    unsafe posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
  }

  deinit { close(descriptor) }

  /// The next `count` bytes; fewer is an error.
  func read(_ count: Int) throws(StageError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    try unsafe bytes.withUnsafeMutableBytes { (buffer) throws(StageError) in
      try unsafe fill(buffer)
    }
    return bytes
  }

  /// The next `count` floats, into the beginning of `samples`.
  func read(into samples: inout [Float], count: Int) throws(StageError) {
    try unsafe samples.withUnsafeMutableBytes { (buffer) throws(StageError) in
      try unsafe fill(UnsafeMutableRawBufferPointer(rebasing: buffer[..<(count * 4)]))
    }
  }

  private func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(StageError) {
    var done = 0
    while done < buffer.count {
      let count = unsafe Glibc.read(
        descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done)
      if count > 0 {
        done += count
      } else if count == 0 || errno != EINTR {
        throw StageError(
          "cannot read \(path)",
          reason: count == 0 ? "it ends too early" : unsafe String(cString: strerror(errno)),
          cause: .environment)
      }
    }
  }
}

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
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
  }

  deinit { close(descriptor) }

  /// Goes on reading `offset` bytes from the beginning.
  func seek(to offset: Int) throws(StageError) {
    guard lseek(descriptor, offset, SEEK_SET) >= 0 else {
      throw StageError(
        "cannot read \(path)", reason: unsafe String(cString: strerror(errno)),
        cause: .environment)
    }
  }

  /// The next `count` bytes; fewer is an error.
  func read(_ count: Int) throws(StageError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var raw = unsafe span.mutableBytes
    try fill(&raw, count: count)
    return bytes
  }

  /// The next `count` floats, into the beginning of `samples`.
  func read(into samples: inout [Float], count: Int) throws(StageError) {
    var span = samples.mutableSpan
    var raw = unsafe span.mutableBytes
    try fill(&raw, count: 4 * count)
  }

  /// Lets `count` bytes go by.
  func skip(_ count: Int) throws(StageError) {
    guard lseek(descriptor, off_t(count), SEEK_CUR) >= 0 else {
      throw StageError(
        "cannot read \(path)", reason: unsafe String(cString: strerror(errno)),
        cause: .environment)
    }
  }

  private func fill(_ bytes: inout MutableRawSpan, count wanted: Int) throws(StageError) {
    precondition(wanted <= bytes.byteCount)
    var done = 0
    while done < wanted {
      let count = unsafe bytes.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress?.advanced(by: done), wanted - done)
      }
      if count > 0 {
        done += count
      } else if count == 0 || errno != EINTR {
        throw StageError(
          "cannot read \(path)",
          reason: count == 0 ? "it ends too early" : unsafe String(cString: strerror(errno)),
          advice: count == 0
            ? "spool repair sets it aside, and it is made again"
            : "the disk may be failing: dmesg says more; spool check says what else is hit",
          cause: .environment)
      }
    }
  }
}

import Glibc
import PipelineModel
import Sidecars

/// A sidecar on the disk.
enum SidecarFile {
  /// Reads a sidecar at a path below the batch's folder.
  static func read(_ path: String, of order: BatchOrder) throws(StageError) -> FileWishes {
    try FileWishes(
      bytes(path, of: order), path: PathText.join(order.folder, path),
      variables: order.definition.variables)
  }

  /// What a sidecar holds, byte for byte; one byte more than is allowed, so that what is too long
  /// shows.
  static func bytes(_ path: String, of order: BatchOrder) throws(StageError) -> [UInt8] {
    let full = PathText.join(order.folder, path)
    guard let bytes = beginning(of: full, Sidecar.byteLimit + 1) else { throw failure(full) }
    return bytes
  }

  /// The first bytes of a file, at most so many; nil where it cannot be read.
  static func beginning(of path: String, _ byteCount: Int) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: byteCount)
    var count = 0
    while count < bytes.count {
      let got = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
      }
      if got == 0 { break }
      if got > 0 { count += got } else if errno != EINTR { return nil }
    }
    return Array(bytes[..<count])
  }

  private static func failure(_ path: String) -> StageError {
    StageError(
      "cannot read the sidecar \(path)",
      reason: unsafe String(cString: strerror(errno)).lowercased(),
      advice: "check who may read it: ls -l", cause: .environment)
  }
}

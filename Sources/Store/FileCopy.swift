import Glibc
internal import PipelineModel

/// Copies files by the cheapest means that the file system has.
struct FileCopy: Sendable {
  let files: FileOperations

  func copy(from source: String, to destination: String) throws(StoreError) {
    let from = try doing("read", source) { () throws(SystemError) in
      try files.open(source, O_RDONLY | O_NONBLOCK)
    }
    let stamp = try doing("read", source) { () throws(SystemError) in try from.stamp }
    if let complaint = stamp.complaint {
      throw StoreError("copy", path: source, reason: complaint)
    }
    let to = try doing("write", destination) { () throws(SystemError) in
      try files.open(destination, O_RDWR | O_CREAT | O_NONBLOCK, mode: 0o666)
    }
    // Looked at before it is emptied: both names may lead to one file.
    let target = try doing("write", destination) { () throws(SystemError) in try to.stamp }
    if let complaint = target.complaint {
      throw StoreError("write", path: destination, reason: complaint)
    }
    if target.isSameFile(as: stamp) {
      throw StoreError("copy", path: source, reason: "it would be copied onto itself")
    }
    try doing("write", destination) { () throws(SystemError) in
      do throws(SystemError) {
        try files.truncate(to)
        try copy(from, to: to)
      } catch {
        try? files.unlink(destination)
        throw error
      }
    }
  }

  private func copy(
    _ from: borrowing OpenFile, to: borrowing OpenFile
  ) throws(SystemError) {
    let isShared: Void? = try tryOut { () throws(SystemError) in
      try files.clone(from, to: to)
    }
    if isShared != nil { return }
    var copiedCount = 0
    while true {
      let count = try tryOut { () throws(SystemError) in
        try files.copyRange(from: from, to: to, byteCount: 1 << 30)
      }
      guard let count, count > 0 else { break }
      copiedCount += count
    }
    // Some file systems say that there is nothing to copy where there is: look behind the end.
    var piece = [UInt8](repeating: 0, count: FileOperations.pieceByteCount)
    while true {
      let count = try files.read(into: &piece, from: from, at: Int64(copiedCount))
      if count == 0 { return }
      try unsafe piece.span.bytes.extracting(..<count).withUnsafeBytes {
        (bytes) throws(SystemError) in
        try unsafe files.write(bytes, to: to)
      }
      copiedCount += count
    }
  }

  /// Nil where the file systems do not know the call; throws where they do and it failed.
  private func tryOut<Result>(
    _ call: () throws(SystemError) -> Result
  ) throws(SystemError) -> Result? {
    do throws(SystemError) {
      return try call()
    } catch {
      let unknown = [ENOTTY, EOPNOTSUPP, EINVAL, EXDEV, ENOSYS, EPERM]
      if unknown.contains(error.code) { return nil }
      throw error
    }
  }
}

import Glibc

extension FileOperations {
  /// Copies a file by the cheapest means of the file system.
  package func copyFile(from source: String, to destination: String) throws(SpoolError) {
    let from = try doing("read", source) { () throws(SystemError) in
      try open(source, O_RDONLY | O_NONBLOCK)
    }
    let stamp = try doing("read", source) { () throws(SystemError) in try from.stamp }
    if let complaint = stamp.complaint { throw SpoolError("copy", source, reason: complaint) }
    let to = try doing("write", destination) { () throws(SystemError) in
      try open(destination, O_RDWR | O_CREAT | O_NONBLOCK, mode: 0o666)
    }
    // Checked before truncation: both names may lead to one file.
    let target = try doing("write", destination) { () throws(SystemError) in try to.stamp }
    if let complaint = target.complaint {
      throw SpoolError("write", destination, reason: complaint)
    }
    if target.isSameFile(as: stamp) {
      throw SpoolError("copy", source, reason: "it would be copied onto itself")
    }
    do throws(SpoolError) {
      try doing("write", destination) { () throws(SystemError) in try truncate(to) }
      try copy(from, to: to)
    } catch {
      try? unlink(destination)
      throw error
    }
  }

  private func copy(_ from: borrowing OpenFile, to: borrowing OpenFile) throws(SpoolError) {
    var copiedCount = try doing("write", to.path) { () throws(SystemError) in
      try copyInside(from, to: to)
    }
    // Some file systems report no bytes where there are some: read beyond that.
    var piece = [UInt8](repeating: 0, count: Self.pieceByteCount)
    while let begun = copiedCount {
      let count = try doing("read", from.path) { () throws(SystemError) in
        try read(into: &piece, from: from, at: Int64(begun))
      }
      if count == 0 { return }
      try doing("write", to.path) { () throws(SystemError) in
        try unsafe piece.span.bytes.extracting(..<count).withUnsafeBytes {
          (bytes) throws(SystemError) in
          try unsafe write(bytes, to: to)
        }
      }
      copiedCount = begun + count
    }
  }

  /// Copies inside the kernel.
  /// - Returns: how many bytes it copied; nil if all.
  private func copyInside(
    _ from: borrowing OpenFile, to: borrowing OpenFile
  ) throws(SystemError) -> Int? {
    let isShared: Void? = try tryOut { () throws(SystemError) in
      try clone(from, to: to)
    }
    if isShared != nil { return nil }
    var copiedCount = 0
    while true {
      let count = try tryOut { () throws(SystemError) in
        try copyRange(from: from, to: to, byteCount: 1 << 30)
      }
      guard let count, count > 0 else { return copiedCount }
      copiedCount += count
    }
  }

  /// Nil if the file systems do not support the call, or cannot say which file failed; throws on
  /// other errors.
  private func tryOut<Result>(
    _ call: () throws(SystemError) -> Result
  ) throws(SystemError) -> Result? {
    do throws(SystemError) {
      return try call()
    } catch {
      let unknown = [ENOTTY, EOPNOTSUPP, EINVAL, EXDEV, ENOSYS, EPERM, EIO]
      if unknown.contains(error.code) { return nil }
      throw error
    }
  }
}

internal import PipelineModel

/// Files that only take room.
extension DraftFolder {
  /// Makes a file of so many bytes that no file system can store in fewer: written and not only
  /// reserved, because some keep no promise about holes, and without a pattern, because some compress.
  /// Nothing is left of it where this throws.
  /// - Parameter least: how many bytes will do where there is no room for all; nil for all of them.
  func makeFile(
    filledTo byteCount: Int, orAtLeast least: Int? = nil
  ) throws(StoreError) -> OpenFile {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    // Marsaglia's xorshift64.
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    while bytes.count < byteCount {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      bytes.append(UInt8(truncatingIfNeeded: state))
    }
    let file = try makeFile()
    do throws(SystemError) {
      try unsafe bytes.span.bytes.withUnsafeBytes { (bytes) throws(SystemError) in
        try unsafe files.write(bytes, to: file)
      }
    } catch {
      if let least, error.isFullDisk, let stamp = try? file.stamp, stamp.byteCount >= Int64(least) {
        return file
      }
      try? files.unlink(file.path)
      throw StoreError("keep room in", path: path, error)
    }
    return file
  }
}

import Glibc

extension FileOperations {
  /// Makes a symbolic link; throws EEXIST if the name exists.
  package func link(to target: String, symbolicallyAt path: String) throws(SystemError) {
    try willPerform(.link(from: target, to: path))
    try SystemError.check { unsafe symlink(target, path) }
  }

  /// Throws if a folder cannot be written to now: its permissions forbid it, or its disk is
  /// read-only. Blocks while the disk does not answer.
  package func checkWritable(folder path: String) throws(SystemError) {
    let folder = try open(path, O_RDONLY | O_DIRECTORY)
    var entry = statvfs()
    guard unsafe fstatvfs(folder.descriptor, &entry) == 0 else { throw .last }
    if entry.f_flag & UInt(ST_RDONLY) != 0 { throw SystemError(EROFS) }
    guard unsafe access(path, W_OK | X_OK) == 0 else { throw .last }
  }

  /// A file's first bytes, at most so many; symbolic links are followed.
  package func beginning(of path: String, byteCount: Int) throws(SystemError) -> [UInt8] {
    let file = try open(path, O_RDONLY | O_NONBLOCK)
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: min(byteCount, Self.pieceByteCount))
    while bytes.count < byteCount {
      let got = try read(into: &piece, from: file, at: Int64(bytes.count))
      if got == 0 { break }
      bytes += piece[..<min(got, byteCount - bytes.count)]
    }
    return bytes
  }
}
